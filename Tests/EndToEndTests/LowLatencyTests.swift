import Foundation
import Testing

extension Unhurried.Access {
    @Suite("Low-latency HLS from the viewers' listener, observed from outside")
    struct LowLatencyTests {
        @Test(
            "a player that requests each hinted part with a blocking reload gets it on both tracks; ffmpeg warns only of duplicated MOOVs"
        )
        func parts() throws {
            let media = try Media.require()
            let work = try WorkDirectory()
            let directory = work.path("out")
            let room = try RunningRoom(Rooms.small(directory))
            let publisher = try Publisher.pattern("ANNA", to: room.url("a"), size: "320x180")
            try room.segments(3)
            let viewer = try #require(room.viewer)
            let reader = try Child(
                media.ffmpeg,
                ["-v", "warning", "-nostdin", "-i", "\(viewer)/index.m3u8", "-t", "4", "-f", "null", "-"],
                environment: [:])

            // A player: the playlist, then each part as it is announced, on both tracks.
            var seen: [String: [String]] = [:]
            for _ in 0..<6 {
                for list in ["180p.m3u8", "audio.m3u8"] {
                    let (number, part) = try Self.next(HTTPClient.request("GET", viewer, "/\(list)").body)
                    let path = "/\(list)?_HLS_msn=\(number)&_HLS_part=\(part)"
                    let reply = try HTTPClient.request("GET", viewer, path)
                    #expect(reply.status == 200)
                    let name = "\(list.dropLast(5))-1-\(number).\(part).m4s"
                    #expect(reply.body.contains("URI=\"\(name)\""), "\(path) is answered with what was requested")
                    #expect(try HTTPClient.request("GET", viewer, "/\(name)").status == 200)
                    seen[list, default: []].append(name)
                }
            }
            #expect(seen.values.allSatisfy { Set($0).count == 6 })
            let text = try HTTPClient.request("GET", viewer, "/180p.m3u8").body
            #expect(text.contains("CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=1.61,CAN-SKIP-UNTIL=12.0"))
            #expect(text.contains("#EXT-X-RENDITION-REPORT:URI=\"audio.m3u8\""))
            #expect(try !Files.text("\(directory)/180p.m3u8").contains("PART"), "the directory has no parts")
            #expect(try HTTPClient.request("GET", viewer, "/180p.m3u8?_HLS_msn=9999").status == 400)
            #expect(try reader.wait(timeout: 20) == 0)
            // It reads the map again with each playlist, and logs that.
            let complaints = reader.errors.split(separator: "\n").filter { !$0.contains("duplicated MOOV") }
            #expect(complaints.isEmpty, "ffmpeg complains")
            #expect(try room.end() == 0)
            publisher.stop()
            #expect(try media.complaints("\(directory)/index.m3u8") == "")
        }

        /// Number and index of the part that a playlist hints.
        private static func next(_ text: String) throws -> (Int, Int) {
            let hint = try #require(text.split(separator: "\n").first { $0.contains("PRELOAD-HINT:TYPE=PART") })
            let numbers = try #require(hint.firstMatch(of: /-(\d+)\.(\d+)\.m4s/)).output
            return (try #require(Int(numbers.1)), try #require(Int(numbers.2)))
        }
    }
}
