import Ingest
import MediaTypes
import Testing
import WebRTC

@Suite("WebRTC session: the publisher's wall clock")
struct WebRTCSessionTimeTests {
    private typealias Pair = WebRTCSessionTests.Pair
    /// Of 2026-11-27, in nanoseconds since 1970.
    private static let captured: Int64 = 1_795_800_000_000_000_000

    @Test("after a sender report, one packet per second has the wall clock of its capture")
    func stamps() throws {
        let pair = try Pair()
        pair.connect()
        pair.sendMedia()
        #expect(pair.packets.allSatisfy { $0.wallClock == nil })
        pair.send(pair.peer.videoReport(ntp: NTPTime.timestamp(Self.captured + 2_208_988_800_000_000_000)))
        for _ in 0..<60 {
            pair.sendMedia(isKey: false)
            pair.advance(seconds: 1 / 30)
        }
        let stamped = pair.packets.filter { $0.wallClock != nil }
        #expect((2...3).contains(stamped.count), "\(stamped.count) of \(pair.packets.count)")
        #expect(stamped.allSatisfy { $0.kind == .video })
        let first = try #require(pair.packets.first { $0.kind == .video })
        for packet in stamped {
            let wall = try #require(packet.wallClock)
            let elapsed = (packet.pts - first.pts) * 1_000_000_000 / Int64(packet.timescale)
            #expect(wall.hasZone && abs(wall.nanoseconds - Self.captured - elapsed) < 1_000_000)
        }
    }

    @Test("a sender that does not know the time (NTP 0) gives no wall clock")
    func unknown() throws {
        let pair = try Pair()
        pair.connect()
        pair.sendMedia()
        pair.send(pair.peer.videoReport(ntp: 0))
        pair.advance(seconds: 0.1)
        pair.sendMedia(isKey: false)
        #expect(pair.packets.count == 4 && pair.packets.allSatisfy { $0.wallClock == nil })
    }
}
