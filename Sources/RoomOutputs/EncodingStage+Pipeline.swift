package import Encoding
import LibAV
import MediaTypes
import Packager
package import PipelineSpec

extension Pipeline {
    /// The encoded renditions with video, in the order of the pipeline.
    package var encodedRenditions: [EncodedRendition] {
        self.videoRenditions.map { rendition in
            let video = rendition.video
            var settings = VideoEncoderSettings(
                width: rendition.width, height: rendition.height, fps: rendition.fps, preset: video.preset.x264Name,
                profile: video.profile.rawValue, bitrate: video.bitrate, maxBitrate: video.maxBitrate,
                bufferSize: video.bufferSize, bFrames: video.bFrames, lookaheadFrames: video.lookaheadFrames,
                threads: video.threads)
            settings.x264Parameters = video.preset.x264Parameters
            if video.passthrough == .auto { settings.parameterSetID = PassthroughSwitch.parameterSetID }
            settings.implementation = H264Implementation(rawValue: video.encoder.rawValue) ?? .libx264
            var encoded = EncodedRendition(
                name: rendition.name, settings: settings, frameStep: self.frameStep(of: rendition))
            encoded.fallsBackAtStart = video.encoderFallback
            return encoded
        }
    }

    /// Number of program frames per frame of the rendition.
    fileprivate func frameStep(of rendition: Rendition) -> Int { max(1, self.canvas.fps / max(1, rendition.fps)) }

    /// The tracks of the HLS output: video, then audio.
    ///
    /// - Parameter parameters: Codec parameters for the initialization segments, in the same order.
    func tracks(_ parameters: [CodecParameters]) -> [TrackDescription] {
        var tracks: [TrackDescription] = []
        let renditions = self.videoRenditions
        for (rendition, parameters) in zip(renditions, parameters) {
            var track = TrackDescription(
                name: rendition.name, kind: .video, parameters: parameters, width: rendition.width,
                height: rendition.height, bitrate: Int64(rendition.video.bitrate),
                maxBitrate: Int64(rendition.video.maxBitrate), bufferSize: Int64(rendition.video.bufferSize),
                frameStep: self.frameStep(of: rendition))
            // With passthrough, a publisher's packets may use the whole buffer. The shares of hardware encoders are not
            // known.
            if rendition.video.passthrough == .off, !rendition.video.encoder.isHardware {
                track.bufferShare = rendition.video.preset.bufferShare
            }
            tracks.append(track)
        }
        for (audio, parameters) in zip(self.audioRenditions, parameters.dropFirst(renditions.count)) {
            tracks.append(
                TrackDescription(
                    name: audio.name, kind: .audio, parameters: parameters, bitrate: Int64(audio.bitrate),
                    channels: self.audio.channels))
        }
        return tracks
    }
}

extension EncodingStage.Settings {
    /// The settings shared by all encoders.
    package init(_ pipeline: Pipeline) {
        self.init(
            width: pipeline.canvas.width, height: pipeline.canvas.height, fps: pipeline.canvas.fps,
            gopFrames: pipeline.hls?.gopFrames ?? 32, sampleRate: pipeline.audio.sampleRate,
            audioBitrates: pipeline.audioRenditions.map(\.bitrate), isOffline: pipeline.clock == .offline)
        self.opening = StartupSegments(pipeline)
        // Not needed offline: no other worker continues an offline job.
        if !self.isOffline { self.partFrames = pipeline.hls?.partFrames }
        if !pipeline.watchedRenditions.isEmpty { self.sleepTicks = pipeline.hls?.segmentFrames }
    }
}

extension StartupSegments {
    /// The short segments with which a live room starts; nil for an offline job and without an HLS output.
    init?(_ pipeline: Pipeline) {
        guard pipeline.clock == .live, let output = pipeline.hls else { return nil }
        self.init(
            fps: pipeline.canvas.fps, gopFrames: output.gopFrames,
            segmentFrames: output.gopFrames * output.segmentGops,
            steps: pipeline.videoRenditions.map { pipeline.frameStep(of: $0) })
    }
}
