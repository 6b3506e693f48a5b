import Foundation
import HLS
import Testing

extension EndToEnd {
    @Suite("Scenes and phases of a PK as date ranges, held against the pictures")
    struct DateRangeTests {
        /// A range as one playlist tells it.
        private struct Range {
            var start: Double
            var end: Double?
            var attributes: [String: String]
        }

        /// Ranges of a playlist by ID; what two tags say of one range is put together.
        private static func ranges(_ text: String) throws -> [String: Range] {
            var ranges: [String: Range] = [:]
            for line in text.split(separator: "\n") where line.hasPrefix("#EXT-X-DATERANGE:") {
                var fields: [String: String] = [:]
                for match in line.matches(of: /([A-Z0-9-]+)=(?:"([^"]*)"|([^,]*))/) {
                    fields[String(match.output.1)] = String(match.output.2 ?? match.output.3 ?? "")
                }
                func date(_ name: String) -> Double? {
                    fields[name].flatMap { ProgramDate.parse($0) }.map { Double($0) / 1e9 }
                }
                let id = try #require(fields["ID"])
                let start = try #require(date("START-DATE"))
                #expect(ranges[id].map { $0.start == start } ?? true)
                var range = ranges[id] ?? Range(start: start, end: nil, attributes: [:])
                range.end = date("END-DATE") ?? range.end
                range.attributes.merge(fields) { old, _ in old }
                ranges[id] = range
            }
            return ranges
        }

        @Test(
            "NetEase 5: each range begins with the first picture that shows it, in every playlist, at the edge and in the directory"
        )
        func inStep() throws {
            guard let media = Media.find() else { return }
            let work = try WorkDirectory()
            let directory = work.path("out")
            let pk = """
                "pk": { "scene": "pk", "countdownMs": 0, "durationMs": 2000, "punishMs": 1000, "punishScene": "solo",
                  "endScene": "pk" },
                """
            let room = try RunningRoom(Rooms.live(directory, renditions: Rooms.large, members: pk))
            let publishers = [
                try Publisher.pattern("ANNA", to: room.url("a")), try Publisher.pattern("BEN", to: room.url("b")),
            ]
            try room.event("source.live", uid: "1001")
            try room.event("source.live", uid: "2002")
            // The first scene has been seen by then.
            try room.segments(1)
            try room.put(scene: "pk")
            usleep(700_000)
            try room.put(scene: "solo")
            usleep(700_000)
            let reply = try HTTPClient.request("POST", room.control, "/v1/pk:start", body: "{}")
            #expect(reply.status == 200, "\(reply.body)")
            try room.event("pk.ended", timeout: 15)
            try room.segments(1)
            let viewer = try #require(room.viewer)
            let edge = try Self.ranges(HTTPClient.request("GET", viewer, "/audio.m3u8").body)
            let pictures = try Self.ranges(HTTPClient.request("GET", viewer, "/720p.m3u8").body)
            #expect(edge.keys.sorted() == pictures.keys.sorted() && edge.count >= 6)
            #expect(try room.end() == 0)
            for publisher in publishers { publisher.stop() }

            let text = try Files.text("\(directory)/720p.m3u8")
            let ranges = try Self.ranges(text)
            #expect(try Self.ranges(Files.text("\(directory)/audio.m3u8")).keys.sorted() == ranges.keys.sorted())
            let first = try #require(Playlist(text).segments.first?.date)
            let decoded = try Decoded("\(directory)/720p.m3u8", [.solo, .left], media)
            // The layout each picture shows; a transition is a cut here. Where a picture reads as both, because some pixels of
            // two panes look like a counter by chance, the counter that goes on from the picture before is the one.
            var last: Int?
            let shows = decoded.times.indices.map { index -> String? in
                let read = [("solo", decoded.panes[0][index].counter), ("pk", decoded.panes[1][index].counter)]
                    .compactMap { name, counter in counter.map { (name: name, counter: Int($0)) } }
                let going = read.filter { one in last.map { (0...3).contains(one.counter - $0) } ?? true }
                guard let shown = read.count == 1 ? read.first : going.count == 1 ? going.first : nil else {
                    return nil
                }
                last = shown.counter
                return shown.name
            }
            let scenes = ranges.values.filter { $0.attributes["CLASS"] == "live.tandem.scene" }.sorted {
                $0.start < $1.start
            }
            try #require(scenes.count == 6, "\(scenes)")
            #expect(scenes.map { $0.attributes["X-TANDEM-SCENE"] } == ["solo", "pk", "solo", "pk", "solo", "pk"])
            #expect(zip(scenes, scenes.dropFirst()).allSatisfy { $0.end == $1.start } && scenes.last?.end != nil)
            var off: [Int] = []
            for (before, scene) in zip(scenes, scenes.dropFirst()) {
                let told = Int(((scene.start - first) * 30).rounded())
                // The change nearest to the date: a picture whose layout is the new one behind one that has the old.
                let change = shows.indices.dropFirst().filter {
                    shows[$0] == scene.attributes["X-TANDEM-SCENE"]
                        && shows[$0 - 1] == before.attributes["X-TANDEM-SCENE"]
                }.min { abs($0 - told) < abs($1 - told) }
                off.append(told - (change ?? .max / 2))
                if off.last != 0 {
                    let near = shows.indices.clamped(to: told - 6..<told + 7)
                    EndToEnd.report("pictures \(near) show \(near.map { shows[$0] ?? "neither" })")
                }
            }
            EndToEnd.report("\(off.count) scene changes: START-DATE less the first picture, in pictures: \(off)")
            #expect(off.allSatisfy { $0 == 0 })
            let phases = ranges.values.filter { $0.attributes["CLASS"] == "live.tandem.pk" }.sorted {
                $0.start < $1.start
            }
            #expect(phases.map { $0.attributes["X-TANDEM-PHASE"] } == ["pk", "punish"])
            try #require(scenes.count == 6)
            #expect(phases.map(\.start) == [scenes[3].start, scenes[4].start], "a phase begins with its picture")
            #expect(phases.map(\.end) == [scenes[4].start, scenes[5].start])
            #expect(phases.first?.attributes["PLANNED-DURATION"] == "2.000")
            #expect(try media.complaints("\(directory)/720p.m3u8") == "")
        }
    }
}
