import PipelineSpec

/// Estimates a room's memory, network traffic and disk usage.
extension CostModel {
    /// Memory in bytes of the program and its libraries before any media arrives.
    private static let programBytes: Int64 = 80 << 20
    /// Memory in bytes for each source, also a file, in addition to its frames and its jitter buffer.
    private static let sourceBytes: Int64 = 12 << 20
    /// Number of frames of a source in memory: reference frames, decoded frames in advance, the frame on air.
    private static let decodedPictures: Int64 = 12
    /// Number of canvases in memory, on their way to the encoders.
    private static let canvasPictures: Int64 = 12
    /// Memory of an encoder for each frame that it keeps, in bytes per pixel.
    private static let encoderBytesPerPixel: Int64 = 6
    /// Number of frames that an encoder keeps in addition to its lookahead and B-frames.
    private static let encoderPictures: Int64 = 6
    /// Memory of a viewer's connection, in bytes.
    private static let viewerBytes: Int64 = 64 << 10

    static func memory(of pipeline: Pipeline, viewers: Int) -> Int64 {
        // A room that has only audio keeps no frames.
        let canvas = pipeline.isAudioOnly ? 0 : Int64(pipeline.canvas.width) * Int64(pipeline.canvas.height)
        var bytes = self.programBytes + canvas * 3 / 2 * self.canvasPictures + Int64(viewers) * self.viewerBytes
        for source in pipeline.sources {
            let stream = self.stream(of: source)
            let picture = pipeline.isAudioOnly ? 0 : stream.width * stream.height * 3 / 2
            bytes += self.sourceBytes + picture * self.decodedPictures
            bytes += stream.videoBitrate / 8 * Int64(source.maxJitterBufferMs) / 1000
        }
        for rendition in pipeline.videoRenditions {
            let pixels = Int64(rendition.width) * Int64(rendition.height)
            let frames =
                self.encoderPictures + Int64(rendition.video.lookaheadFrames) + Int64(rendition.video.bFrames)
            bytes += pixels * self.encoderBytesPerPixel * frames
        }
        // The viewers' listener keeps the newest segments in memory.
        if let hls = pipeline.hls, hls.http.listen != nil, pipeline.canvas.fps > 0 {
            let seconds = Int64(4 * hls.segmentFrames / pipeline.canvas.fps + 1)
            bytes += self.ladderBits(of: pipeline) / 8 * seconds
        }
        return bytes
    }

    /// Returns the peak bit rate of all renditions that the packager writes together, including container overhead.
    private static func ladderBits(of pipeline: Pipeline) -> Int64 {
        let video = pipeline.videoRenditions.reduce(Int64(0)) { $0 + Int64($1.video.maxBitrate) }
        let audio = pipeline.audioRenditions.reduce(Int64(0)) { $0 + Int64($1.bitrate) }
        return (video + audio) * 103 / 100
    }

    /// Returns how many seconds of media are on disk: segments in the playlists, and segments that left the playlists
    /// recently. For an event playlist, which has no limit, an hour is assumed.
    private static func keptSeconds(_ hls: HLSOutput) -> Int64 {
        Int64(hls.playlistType == .event ? 3600 : hls.windowSeconds + hls.deleteGraceSeconds)
    }

    /// Adds the traffic of RTMP outputs and stores, and the files of MPEG-TS outputs. Their CPU time is small and has
    /// not been measured.
    static func addOutputs(of pipeline: Pipeline, to cost: inout RoomCost) {
        func bits(_ rendition: Rendition) -> Int64 {
            let audio = rendition.audio.first.flatMap { name in pipeline.audioRenditions.first { $0.name == name } }
            let video = rendition.isAudioOnly ? 0 : Int64(rendition.video.maxBitrate)
            return (video + Int64(audio?.bitrate ?? 0)) * 103 / 100
        }
        for push in pipeline.pushes { cost.egressBitsPerSecond += pipeline.rendition(of: push).map(bits) ?? 0 }
        cost.egressBitsPerSecond += Int64(pipeline.uploads.count) * Self.ladderBits(of: pipeline)
        guard let hls = pipeline.hls else { return }
        let streams = pipeline.renditions.reduce(Int64(0)) { $0 + bits($1) } * Int64(pipeline.transports.count)
        cost.writtenBytesPerHour += streams / 8 * 3600
        cost.windowBytes += streams / 8 * Self.keptSeconds(hls)
    }

    func addTraffic(of pipeline: Pipeline, to cost: inout RoomCost) {
        var relayed: Int64 = 0
        for source in pipeline.sources {
            if case .file = source.input { continue }
            let stream = Self.stream(of: source)
            cost.ingressBitsPerSecond += stream.videoBitrate + stream.audioBitrate
            relayed += Int64(source.relays.count) * (stream.videoBitrate + stream.audioBitrate)
        }
        let best = pipeline.videoRenditions.map { Int64($0.video.maxBitrate) }.max() ?? 0
        let audio = pipeline.audioRenditions.map { Int64($0.bitrate) }.max() ?? 0
        cost.egressBitsPerSecond = relayed + Int64(self.viewers) * (best + audio) * 103 / 100
        let bits = Self.ladderBits(of: pipeline)
        if let hls = pipeline.hls {
            cost.writtenBytesPerHour += bits / 8 * 3600
            cost.windowBytes = bits / 8 * Self.keptSeconds(hls)
        }
        if let record = pipeline.record {
            // Segments of all renditions stay for the playlists; each MP4 is a copy of a video rendition and its audio.
            let files = pipeline.recordedRenditions.reduce(Int64(0)) {
                $0 + ($1.isAudioOnly ? 0 : Int64($1.video.maxBitrate)) + audio
            }
            cost.recordedBytesPerHour = (record.vodPlaylist ? bits : 0) / 8 * 3600 + files / 8 * 3600
            cost.writtenBytesPerHour += cost.recordedBytesPerHour
        }
        for _ in pipeline.raws {
            let picture = Int64(pipeline.canvas.width) * Int64(pipeline.canvas.height) * 3 / 2
            cost.writtenBytesPerHour += picture * Int64(pipeline.canvas.fps) * 3600
        }
    }
}
