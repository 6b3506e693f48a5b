import HTTPProbe
import MediaTypes
import Origin
import TestSupport
import Testing

extension InProcess {
    @Suite("A rendition that is encoded while somebody watches it, and its viewers over HTTP")
    struct DemandTests {
        private static func pipeline(_ directory: String) -> String {
            HarnessRooms.duel(directory, hls: #", "windowSeconds": 12"#)
                .replacing(#""lowLatency": false, "http": { "listen": null }"#, with: #""lowLatency": true"#)
                .replacing(
                    #""renditions": ["#,
                    with: """
                        "renditions": [
                          { "name": "72p", "width": 128, "height": 72, "when": "watched",
                            "video": { "bitrate": 60000, "preset": "ultrafast" } },
                        """)
        }

        private static func uris(_ text: String) -> [Substring] {
            text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        }

        private static func sequence(_ text: String) -> Int64? {
            text.split(separator: "\n").first { $0.hasPrefix("#EXT-X-MEDIA-SEQUENCE:") }
                .flatMap { Int64($0.drop { $0 != ":" }.dropFirst()) }
        }

        @Test(
            "a rendition sleeps after 30 s without requests and wakes for one; a successor leaves it asleep until viewers are announced"
        )
        func demand() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let pipeline = Self.pipeline(directory.path)
            let room = try await RoomHarness.open(pipeline)
            let stages = room.room.outputStages
            let (packager, watched) = (try #require(stages.packager), try #require(stages.watched))
            let content = LiveContent(
                control: packager.control, playlistNames: packager.mediaPlaylistNames, clock: room.clock,
                elsewhere: { name in
                    guard case .bytes(let bytes)? = packager.object(named: name)?.body else { return nil }
                    return OriginObject(body: .bytes(bytes), contentType: "any", cacheControl: "no-store")
                },
                demand: LiveContent.Demand(
                    requested: { watched.requested($0) }, isRefusing: { watched.isRefusing }), ended: { false })
            packager.attach { content.publish($0) }
            let server = try await OriginServer.start(
                listen: .tcp(host: "127.0.0.1", port: 0), content: content, allowOrigins: ["*"],
                page: ViewerPage.Options(title: "Room"), logger: room.room.logger)
            let probe = HTTPProbe(server.boundAddress)
            try await room.goLive(HarnessRooms.first)

            let asleep = try await room.run(until: "rendition.asleep", within: 40)
            #expect(asleep.text("rendition") == "72p")
            try await room.run(seconds: 6)
            try await waitUntil("its list is empty", { try directory.text(of: "72p.m3u8") }) { Self.uris($0).isEmpty }
            let told = try #require(room.events.all("segment.published").last)
            #expect(told.line.contains(#""90p":"#) && !told.line.contains(#""72p":"#), "\(told)")

            // As hls.js asks when it changes to the rendition: for the position that the other playlist reports.
            let wide = try await probe.request("GET /90p.m3u8").text
            let report = try #require(wide.split(separator: "\n").first { $0.contains(#"URI="72p.m3u8""#) })
            let number = try #require(report.split(separator: ",").first { $0.hasPrefix("LAST-MSN=") }?.dropFirst(9))
            let mark = room.events.count
            let waiting = Task { try await probe.request("GET /72p.m3u8?_HLS_msn=\(number)&_HLS_part=0") }
            try await waitUntil("the request waits", { content.waitingCount }) { $0 == 1 }
            let awake = try await room.run(until: "rendition.awake", from: mark, within: 4)
            #expect(awake.text("cause") == "playlist")
            try await room.run(seconds: 5)
            let first = try await waiting.value
            #expect(first.status == 200 && first.text.contains("#EXT-X-PART:"), "\(first.text)")
            #expect(!Self.uris(first.text).isEmpty)
            #expect(try #require(Self.sequence(first.text)) >= #require(Int64(number)))
            #expect(!first.text.contains("GAP") && !first.text.contains("#EXT-X-DISCONTINUITY\n"))
            try await room.run(seconds: 12)
            let segments = Self.uris(try await probe.request("GET /72p.m3u8").text)
            #expect(segments.count >= 3)
            let others = Self.uris(try await probe.request("GET /90p.m3u8").text)
            #expect(others.suffix(3).map { $0.dropFirst(3) } == segments.suffix(3).map { $0.dropFirst(3) })
            for name in segments.suffix(2) { #expect(try await probe.request("GET /\(name)").status == 200) }

            try await room.run(until: "rendition.asleep", from: mark, within: 40)
            try await room.run(seconds: 6)
            try await waitUntil("the state has it", { try directory.text(of: "state.json") }) {
                $0.contains(#""asleep": true"#)
            }
            room.kill()
            await server.stop()
            let second = try await RoomHarness.open(pipeline, at: room.wall.now() + 3 * RoomHarness.second, .slate)
            try await second.run(seconds: 5)
            #expect(second.events.all("rendition.asleep").count == 1 && second.events.all("rendition.awake").isEmpty)
            let reply = try await second.command(
                .post, "/v1/renditions/72p:demand", #"{"seconds":40}"#, status: 202)
            #expect(reply.member("awake")?.content == .boolean(true))
            let again = try await second.run(until: "rendition.awake", within: 4)
            #expect(again.text("cause") == "announced")
            try await second.run(seconds: 6)
            try await waitUntil("it is listed", { try directory.text(of: "72p.m3u8") }) { Self.uris($0).count >= 1 }
            try await second.end()
        }
    }
}
