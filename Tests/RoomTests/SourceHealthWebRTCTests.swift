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
        feed.conditions.note(statistics)
        feed.run(10, key: 1_000)
        #expect(feed.levels == [.alert1] && feed.health.causes == [.keyInterval], "OBS ignores requests")
        statistics.media.tracks[1].answersKeyFrameRequests = true
        feed.conditions.note(statistics)
        feed.run(11, key: 1_000)
        #expect(feed.health.level == .normal && feed.health.figures.keyGap > 20 * SourceHealthTests.second)
    }

    @Test(
        "an audio shift that follows RTCP sender reports raises no alert; a shift of 200 ms without them raises alert_2 for skew",
        arguments: [-150, 150] as [Int64])
    func realignment(by correction: Int64) {
        var statistics = WebRTCStatistics()
        statistics.media.tracks = [.init(.video), .init(.audio)]
        var feed = Feed()
        feed.conditions.note(statistics)
        feed.run(10)
        // At most 1 % of the time: 15 s for 150 ms.
        for step in Int64(1)...15 {
            statistics.media.tracks[1].corrected = correction * SourceHealthTests.ms * step / 15
            feed.conditions.note(statistics)
            feed.run(1, renumbered: correction * step / 15)
        }
        feed.run(20, renumbered: correction)
        #expect(feed.changes.isEmpty, "\(feed.changes)")
        feed.run(6, late: 200, renumbered: correction)
        #expect(feed.levels == [.alert2] && feed.health.causes == [.skew])
    }

    /// A publisher of 350 packets and 30 frames per second.
    private struct Publisher {
        var feed = Feed()
        var statistics = WebRTCStatistics()

        init() {
            self.statistics.media.tracks = [.init(.video), .init(.audio)]
            self.feed.conditions.buffered = 200 * SourceHealthTests.ms
        }

        /// - Parameter percent: Packets that the network loses and retransmission repairs.
        mutating func run(_ seconds: Int, losing percent: Int64 = 0) {
            for _ in 0..<seconds {
                self.statistics.media.tracks[0].expected += 300
                self.statistics.media.tracks[1].expected += 50
                self.statistics.media.tracks[0].networkLost += 300 * percent / 100
                self.statistics.media.tracks[1].networkLost += 50 * percent / 100
                self.feed.conditions.note(self.statistics)
                self.feed.run(1, key: 1_000)
            }
        }

        /// One second in whose middle no frame can be shown.
        mutating func freeze(_ milliseconds: Int64, isLoss: Bool = true) {
            let start = self.feed.now
            for at in stride(from: Int64(0), to: 990, by: 33) where !(300..<300 + milliseconds).contains(at) {
                let time = start + at * SourceHealthTests.ms
                self.feed.meter.note(.video, isKey: false, bytes: 8_000, dts: time, at: time)
            }
            if isLoss { self.statistics.damagedVideoFrames += UInt64(milliseconds / 33) }
            self.feed.conditions.note(self.statistics)
            self.feed.now += SourceHealthTests.second
            self.feed.look()
        }
    }

    @Test(
        "a loss of 6 % of the packets or more raises an alert, also if retransmission repairs it; a loss of 2 % does not",
        arguments: [(2, .normal), (6, .alert1), (12, .alert2), (30, .alert3)] as [(Int64, SourceHealth.Level)])
    func loss(percent: Int64, level: SourceHealth.Level) {
        var publisher = Publisher()
        publisher.statistics.media.tracks[0].answersKeyFrameRequests = true
        publisher.run(10)
        publisher.run(6, losing: percent)
        #expect(publisher.feed.health.level == level, "\(publisher.feed.health.findings)")
        if level > .normal {
            #expect(publisher.feed.health.causes == [.loss])
            #expect(publisher.feed.health.findings[0].message.contains("loses \(percent) % of its packets"))
        }
        publisher.run(16)
        #expect(publisher.feed.health.level == .normal, "it clears as other causes do")
    }

    @Test("a session's first packet counts, and counts that restart at zero, are not reported as packet loss")
    func countersRestart() {
        var publisher = Publisher()
        publisher.statistics.media.tracks[0].answersKeyFrameRequests = true
        publisher.statistics.media.tracks[0].expected = 100_000
        publisher.statistics.media.tracks[0].networkLost = 50_000
        publisher.run(6)
        publisher.statistics.media.tracks[0].expected = 0
        publisher.statistics.media.tracks[0].networkLost = 0
        publisher.run(6)
        #expect(publisher.feed.changes.isEmpty)
    }

    @Test(
        "a freeze of 165 ms or more due to lost packets raises an alert despite the jitter buffer; a publisher's pause of 165 ms does not",
        arguments: [(66, .normal), (165, .alert1), (500, .alert2), (690, .alert2)] as [(Int64, SourceHealth.Level)])
    func freeze(milliseconds: Int64, level: SourceHealth.Level) {
        var publisher = Publisher()
        publisher.statistics.media.tracks[0].answersKeyFrameRequests = true
        publisher.run(12)
        publisher.freeze(165, isLoss: false)
        #expect(publisher.feed.changes.isEmpty, "\(publisher.feed.health.findings)")
        publisher.freeze(milliseconds)
        #expect(publisher.feed.health.level == level, "\(publisher.feed.health.findings)")
        guard level > .normal else { return }
        #expect(publisher.feed.health.causes == [.gap])
        #expect(publisher.feed.health.findings[0].message.hasSuffix("because packets were lost"))
    }
}
