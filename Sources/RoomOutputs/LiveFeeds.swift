package import Egress
import HLS
package import Encoding
package import MediaTypes
package import PipelineSpec
package import Push
import Synchronization

/// Passes the encoders' packets to the renditions that are sent as FLV tags (RTMP outputs and HTTP-FLV).
///
/// Every rendition of a live room can be requested at any time. A rendition without receivers costs one check per packet.
package final class LiveFeeds: Sendable {
    /// The renditions as FLV tags, with the RTMP outputs and viewers that receive them.
    package let outputs: LiveOutputs
    /// The feeds that each encoder track is sent to.
    let feeds: [[LiveFeed]]
    /// Metadata that waits for its frames, by video track.
    let cues: Mutex<[PendingFrameMetadata]>
    /// Number of program frames per frame of each video track.
    let steps: [Int64]
    /// Frame rate of the program.
    let fps: Int

    /// Makes the feeds; nil without renditions, and for an offline job, which has no viewers while it runs.
    package init?(_ pipeline: Pipeline, _ egress: EgressGate, clock: any MonotonicClock) {
        let hasFiles = pipeline.hls?.http.flv == true && pipeline.hls?.encryption == nil
        let renditions = pipeline.renditions
        guard !renditions.isEmpty, pipeline.clock == .live else { return nil }
        let outputs = LiveOutputs(
            renditions.map { Self.describe($0, in: pipeline) }, makesFiles: hasFiles, egress: egress,
            clock: clock)
        let videoRenditions = pipeline.videoRenditions
        var feeds = [[LiveFeed]](repeating: [], count: videoRenditions.count + pipeline.audioRenditions.count)
        for rendition in renditions {
            guard let feed = outputs.feed(named: rendition.name) else { continue }
            if let track = videoRenditions.firstIndex(where: { $0.name == rendition.name }) {
                feeds[track].append(feed)
            }
            if let name = rendition.audio.first,
                let audio = pipeline.audioRenditions.firstIndex(where: { $0.name == name })
            {
                feeds[videoRenditions.count + audio].append(feed)
            }
        }
        self.outputs = outputs
        self.feeds = feeds
        self.fps = pipeline.canvas.fps
        self.steps = videoRenditions.map { Int64(max(1, pipeline.canvas.fps / max(1, $0.fps))) }
        self.cues = Mutex([PendingFrameMetadata](repeating: PendingFrameMetadata(), count: videoRenditions.count))
    }

    private static func describe(_ rendition: Rendition, in pipeline: Pipeline) -> FeedDescription {
        var description = FeedDescription(name: rendition.name)
        if !rendition.isAudioOnly {
            description.width = rendition.width
            description.height = rendition.height
            description.fps = rendition.fps
            description.videoBitrate = rendition.video.bitrate
        }
        if let name = rendition.audio.first, let audio = pipeline.audioRenditions.first(where: { $0.name == name }) {
            description.audioBitrate = audio.bitrate
            description.sampleRate = pipeline.audio.sampleRate
            description.channels = pipeline.audio.channels
        }
        return description
    }

    /// Sets the codec parameters when the encoders are open.
    package func begin(_ parameters: [CodecParameters]) {
        for (track, parameters) in parameters.enumerated() { self.configure(track: track, parameters) }
    }

    /// Changes the format of a track. Called on the thread of the track's encoder, like ``receive(track:_:)``.
    package func configure(track: Int, _ change: EncodingStage.Reconfiguration) {
        if let isPassed = change.isPassed { self.setPassed(isPassed, track: track) }
        self.configure(
            track: track, change.parameters, width: change.width, height: change.height, isPlaced: change.isPassed)
    }

    /// Passes an encoded packet of a track to its feeds.
    package func receive(track: Int, _ packet: CodedPacket) {
        guard self.feeds.indices.contains(track) else { return }
        guard self.feeds[track].contains(where: \.isAwake) else { return self.pass(packet, track: track) }
        let packet = self.carrying(packet, track: track)
        for feed in self.feeds[track] { feed.receive(packet) }
    }

    /// Sets the bit rate of a video track, in bits per second.
    package func setBitrate(_ bitrate: Int, track: Int) {
        guard self.feeds.indices.contains(track) else { return }
        for feed in self.feeds[track] { feed.setVideoBitrate(bitrate) }
    }

    private func configure(
        track: Int, _ parameters: CodecParameters, width: Int = 0, height: Int = 0, isPlaced: Bool? = nil
    ) {
        guard self.feeds.indices.contains(track), !self.feeds[track].isEmpty else { return }
        var parameters = parameters
        if parameters.kind == .video {
            guard let record = AVCConfiguration(extradata: parameters.configuration)?.record else { return }
            parameters = CodecParameters(codec: parameters.codec, configuration: record)
        }
        for feed in self.feeds[track] {
            feed.configure(parameters, width: width, height: height, isPlaced: isPlaced)
        }
    }
}
