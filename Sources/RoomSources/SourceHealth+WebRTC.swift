package import Ingest
import WebRTC

extension SourceHealth.Conditions {
    /// Adds what the connection of a WebRTC publisher knows.
    package mutating func note(_ statistics: WebRTCStatistics) {
        let video = statistics.media.tracks.first { $0.kind == .video }
        let audio = statistics.media.tracks.first { $0.kind == .audio }
        self.answersKeyFrameRequests = video?.answersKeyFrameRequests ?? false
        if let video, let audio { self.realigned = video.corrected &- audio.corrected }
        var packets = SourceHealth.Packets()
        packets.sent = statistics.expected
        packets.lost = statistics.networkLost
        packets.missing = Int64(clamping: statistics.damagedVideoFrames)
        self.packets = packets
    }
}
