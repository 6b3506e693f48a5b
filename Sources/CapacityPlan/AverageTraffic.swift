import MediaTypes
package import PipelineSpec

/// Estimates, from a pipeline file, the average bit rates that its room receives, sends and stores, by which providers
/// charge. ``RoomCost`` has the peak bit rates, which machines must be able to carry.
package struct AverageTraffic: Sendable, Hashable {
    /// Expected average bit rate received from publishers and pulled sources, in bit/s.
    package var received: Int64 = 0
    /// Expected average bit rate sent to each viewer that plays the highest video rendition, in bit/s.
    package var perViewer: Int64 = 0
    /// Expected average bit rate sent to relays, RTMP servers and stores, in bit/s.
    package var sent: Int64 = 0
    /// Expected average growth of the recording, in bit/s: the segments that it keeps, and the MP4 files made from them.
    package var recorded: Int64 = 0

    /// Bytes of media with container and playlists, in percent of the bytes of the media alone.
    private static let container: Int64 = 103

    package init(_ pipeline: Pipeline) {
        func bits(_ rendition: Rendition) -> Int64 {
            let audio = rendition.audio.first.flatMap { name in pipeline.audioRenditions.first { $0.name == name } }
            return (rendition.isAudioOnly ? 0 : Int64(rendition.video.bitrate)) + Int64(audio?.bitrate ?? 0)
        }
        let audio = pipeline.audioRenditions.map { Int64($0.bitrate) }
        let ladder = pipeline.videoRenditions.reduce(audio.reduce(0, +)) { $0 + Int64($1.video.bitrate) }
        let best = pipeline.videoRenditions.map { Int64($0.video.bitrate) }.max() ?? 0
        self.perViewer = (best + (audio.max() ?? 0)) * Self.container / 100
        for source in pipeline.sources {
            if case .file = source.input { continue }
            let stream = CostModel.stream(of: source)
            self.received += stream.videoBitrate + stream.audioBitrate
            self.sent += Int64(source.relays.count) * (stream.videoBitrate + stream.audioBitrate)
        }
        for push in pipeline.pushes {
            self.sent += (pipeline.rendition(of: push).map(bits) ?? 0) * Self.container / 100
        }
        self.sent += Int64(pipeline.uploads.count) * ladder * Self.container / 100
        if let record = pipeline.record {
            let movies = pipeline.recordedRenditions.reduce(Int64(0)) { $0 + bits($1) }
            self.recorded = ((record.vodPlaylist ? ladder : 0) + movies) * Self.container / 100
        }
    }
}
