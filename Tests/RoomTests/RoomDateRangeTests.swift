import HLS
import MediaTypes
import PipelineSpec
import Testing

extension InProcess {
    @Suite("Date ranges of scenes and PK phases match the frames")
    struct DateRangeTests {
        /// A date range in one playlist, in nanoseconds since the Unix epoch.
        private struct Range {
            var start: Int64
            var end: Int64?
            var attributes: [String: String]
        }

        /// Ranges of a playlist by ID; two tags for one range are merged.
        private static func ranges(_ text: String) throws -> [String: Range] {
            var ranges: [String: Range] = [:]
            for line in text.split(separator: "\n") where line.hasPrefix("#EXT-X-DATERANGE:") {
                var fields: [String: String] = [:]
                for match in line.matches(of: /([A-Z0-9-]+)=(?:"([^"]*)"|([^,]*))/) {
                    fields[String(match.output.1)] = String(match.output.2 ?? match.output.3 ?? "")
                }
                func date(_ name: String) -> Int64? { fields[name].flatMap { ProgramDate.parse($0) } }
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

        @Test("each scene and PK phase has a date range that begins with the first frame that shows it")
        func inStep() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let pk = """
                "pk": { "scene": "pk", "countdownMs": 0, "durationMs": 2000, "punishMs": 1000, "punishScene": "solo",
                  "endScene": "pk" },
                """
            let room = try await RoomHarness.open(
                HarnessRooms.duel(directory.path, members: pk, outputs: HarnessRooms.raw(directory.path)))
            try await room.goLive(HarnessRooms.first, HarnessRooms.second)
            try await room.run(seconds: 3)
            for scene in ["pk", "solo"] {
                try await room.command(.put, "/v1/program", #"{"scene":"\#(scene)"}"#)
                try await room.run(seconds: 0.7)
            }
            try await room.command(.post, "/v1/pk:start")
            try await room.run(until: "pk.ended")
            try await room.run(seconds: 3)
            try await room.end()

            let list = try directory.playlist("90p.m3u8")
            let ranges = try Self.ranges(list.text)
            #expect(try Self.ranges(directory.text(of: "audio.m3u8")).keys.sorted() == ranges.keys.sorted())
            let start = try #require(room.events.all("program.started").first?.integer("firstTick"))
            let frames = try CanvasFrames(directory, firstTick: start)
            let first = try #require(list.segments.first?.date)
            func of(_ name: String) -> [Range] {
                ranges.values.filter { $0.attributes["CLASS"] == name }.sorted { $0.start < $1.start }
            }
            let scenes = of("live.tandem.scene")
            try #require(scenes.count == 6, "\(scenes)")
            #expect(scenes.map { $0.attributes["X-TANDEM-SCENE"] } == ["solo", "pk", "solo", "pk", "solo", "pk"])
            #expect(zip(scenes, scenes.dropFirst()).allSatisfy { $0.end == $1.start } && scenes.last?.end != nil)
            func view(_ scene: Range) -> CanvasFrames.View {
                scene.attributes["X-TANDEM-SCENE"] == "pk" ? .darkLeftLightRight : .dark
            }
            for (before, scene) in zip(scenes, scenes.dropFirst()) {
                // A tick is 100 ms; dates are written in whole milliseconds.
                let tick = start + (scene.start - first + 50_000_000) / 100_000_000
                #expect(frames.view(tick - 1) == view(before) && frames.view(tick) == view(scene), "at \(tick)")
            }
            let phases = of("live.tandem.pk")
            #expect(phases.map { $0.attributes["X-TANDEM-PHASE"] } == ["pk", "punish"])
            #expect(phases.map(\.start) == [scenes[3].start, scenes[4].start], "a phase starts with its frame")
            #expect(phases.map(\.end) == [scenes[4].start, scenes[5].start])
            #expect(phases.first?.attributes["PLANNED-DURATION"] == "2.000")
            directory.lint()
        }
    }
}
