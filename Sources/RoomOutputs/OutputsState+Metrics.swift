package import Control
import MediaTypes
package import PipelineSpec

extension OutputsState {
    /// Adds metrics of the renditions' sizes and bit rates, and of the disk.
    package func addMetrics(of pipeline: Pipeline, to metrics: inout MetricsText) {
        let videos = pipeline.renditions.filter { !$0.isAudioOnly }
        // Renditions with video are listed even before the first segment.
        let names = videos.map(\.name)
        let tracks = names + self.bytes.keys.filter { !names.contains($0) }.sorted()
        metrics.family("tandem_rendition_bytes_total", .counter, "Bytes of the published segments, slate included.")
        for track in tracks {
            metrics.sample("tandem_rendition_bytes_total", ["rendition": track], self.bytes[track] ?? 0)
        }
        metrics.family(
            "tandem_rendition_bytes_per_second", .gauge,
            "Measured bit rate of the last segment without slate, divided by 8; absent before the first one.")
        for track in tracks {
            guard let bits = self.bitrate(of: track, fps: pipeline.canvas.fps) else { continue }
            metrics.sample("tandem_rendition_bytes_per_second", ["rendition": track], bits / 8)
        }
        metrics.family(
            "tandem_rendition_target_bytes_per_second", .gauge, "Bit rate that the encoder aims at, divided by 8.")
        for video in videos {
            metrics.sample(
                "tandem_rendition_target_bytes_per_second", ["rendition": video.name], Int64(video.video.bitrate) / 8)
        }
        if let space = self.disk.space { Self.addDisk(used: space.used, free: space.free, to: &metrics) }
    }

    /// Bit rate of the last segment that is not slate, in bit/s; nil before the first such segment, and for a track that
    /// was not in it.
    ///
    /// - Parameter fps: Frame rate of the program.
    package func bitrate(of track: String, fps: Int) -> Int64? {
        guard self.lastFrames > 0, let size = self.lastSizes[track] else { return nil }
        return TimeMath.scale(Int64(size) * 8, by: Int64(fps), over: self.lastFrames)
    }

    private static func addDisk(used: Int64, free: Int64, to metrics: inout MetricsText) {
        metrics.family("tandem_disk_used_bytes", .gauge, "Bytes of the room's files on its fullest disk.")
        metrics.sample("tandem_disk_used_bytes", used)
        metrics.family(
            "tandem_disk_free_bytes", .gauge,
            "Bytes that the room may still use on its fullest disk, by free space or limit.")
        metrics.sample("tandem_disk_free_bytes", free)
    }
}
