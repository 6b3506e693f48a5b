import HLS
import HTTPListener
import HTTPProbe
import Logging
import MediaTypes
import Testing

import Origin

@Suite("Traffic of a viewers' listener: replies, bytes and number of viewers", .timeLimit(.minutes(1)))
struct ViewerTrafficTests {
    @Test(
        "a media playlist request counts as one part of playback if it waits for a part, and as a target duration otherwise"
    )
    func playback() async throws {
        let playlist = MemoryContent.playlist("#EXTM3U\n")
        let content = MemoryContent(objects: [
            "index.m3u8": playlist, "v.m3u8": playlist, "a.m3u8": playlist, "v-iframes.m3u8": playlist,
            "ts/index.m3u8": playlist, "ts/v.m3u8": playlist, "x.m4s": playlist,
        ])
        let players = PlayerPlaylists(
            video: ["v.m3u8"], audio: ["a.m3u8"], multivariants: ["ts/index.m3u8"], target: 2_000, part: 500)
        let server = try await OriginServer.start(
            listen: .tcp(host: "127.0.0.1", port: 0), content: content, allowOrigins: ["*"],
            page: ViewerPage.Options(title: "Room"),
            players: players, logger: Logger(label: "test"))
        let probe = HTTPProbe(server.boundAddress)
        func watched(after path: String) async throws -> Int64 {
            _ = try await probe.request("GET \(path)")
            return server.traffic.watched
        }
        for path in ["/index.m3u8", "/v-iframes.m3u8", "/ts/index.m3u8", "/x.m4s", "/none.m3u8"] {
            #expect(try await watched(after: path) == 0, "\(path)")
        }
        #expect(try await watched(after: "/v.m3u8") == 2_000)
        #expect(try await watched(after: "/v.m3u8?_HLS_msn=1&_HLS_part=0") == 2_500)
        #expect(try await watched(after: "/a.m3u8") == 2_500, "the same player reads its audio")
        #expect(try await watched(after: "/v.m3u8?_HLS_msn=2") == 4_500, "it waits for a whole segment")
        #expect(try await watched(after: "/ts/v.m3u8") == 6_500)
        #expect(try await watched(after: "/ts/none.m3u8") == 6_500, "a request that fails is no playback")
        for _ in 0..<4 { _ = try await probe.request("GET /a.m3u8") }
        #expect(server.traffic.watched == 10_000, "listeners without video")
        let rows = Dictionary(uniqueKeysWithValues: server.traffic.replies.map { ($0.code, $0.replies) })
        #expect(rows["200"] == 13 && rows["404"] == 2)
        await server.stop()
    }

    @Test(
        "in the estimated number of viewers each player counts once, whether it waits for parts or not",
        arguments: [500, 2_000] as [Int64])
    func estimate(interval: Int64) {
        var estimate = ViewerEstimate()
        let second: Int64 = 1_000_000_000
        var (now, watched): (Int64, Int64) = (5 * second, 0)
        #expect(estimate.viewers(0, at: now) == 0)
        /// Lets players read their playlists.
        func play(_ players: Int64, seconds: Int64) {
            for _ in 0..<seconds * 1_000 / interval {
                estimate.note(watched, at: now)
                now += interval * 1_000_000
                watched += players * interval
            }
        }
        play(40, seconds: 40)
        #expect((39...41).contains(estimate.viewers(watched, at: now)))
        play(40, seconds: 4 * 3_600)
        #expect((39...41).contains(estimate.viewers(watched, at: now)), "no drift in four hours")
        play(100, seconds: 15)
        #expect((65...75).contains(estimate.viewers(watched, at: now)), "newcomers count gradually")
        play(0, seconds: 32)
        #expect(estimate.viewers(watched, at: now) == 0)
    }

    @Test("right after the start, requests for 12 s of playback count as no viewer, and for 20 s as one")
    func start() {
        var estimate = ViewerEstimate()
        estimate.note(0, at: 0)
        #expect(estimate.viewers(12_000, at: 1_000_000_000) == 0)
        #expect(estimate.viewers(20_000, at: 1_000_000_000) == 1)
    }
}
