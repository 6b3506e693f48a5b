import Ingest
import MediaTypes
import Room
import RoomSources
import Testing
import WebRTC

@Suite("SourceHealth: publishers over WebRTC")
struct SourceHealthWebRTCTests {
    private typealias Feed = SourceHealthTests.Feed

    @Test("key frames that are far apart are no problem if the publisher sends them on request")
    func keyFramesOnRequest() {
        var statistics = WebRTCStatistics()
        statistics.media.tracks = [.init(.audio), .init(.video)]
        var feed = Feed()
        feed.surroundings.note(statistics)
        feed.run(10, key: 1_000)
        #expect(feed.levels == [.alert1] && feed.health.causes == [.keyInterval], "OBS ignores requests")
        statistics.media.tracks[1].answersKeyFrameRequests = true
        feed.surroundings.note(statistics)
        feed.run(11, key: 1_000)
        #expect(feed.health.level == .normal && feed.health.figures.keyGap > 20 * SourceHealthTests.second)
    }

    @Test(
        "audio that sender reports move is no skew; audio that moves without them is", arguments: [-150, 150] as [Int64])
    func realignment(by correction: Int64) {
        var statistics = WebRTCStatistics()
        statistics.media.tracks = [.init(.video), .init(.audio)]
        var feed = Feed()
        feed.surroundings.note(statistics)
        feed.run(10)
        // At most 1 % of the time: 15 s for 150 ms.
        for step in Int64(1)...15 {
            statistics.media.tracks[1].corrected = correction * SourceHealthTests.ms * step / 15
            feed.surroundings.note(statistics)
            feed.run(1, renumbered: correction * step / 15)
        }
        feed.run(20, renumbered: correction)
        #expect(feed.changes.isEmpty, "\(feed.changes)")
        feed.run(6, late: 200, renumbered: correction)
        #expect(feed.levels == [.alert2] && feed.health.causes == [.skew])
    }
}
