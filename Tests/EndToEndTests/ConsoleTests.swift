import Foundation
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    @Suite("The control API of a live room")
    struct ConsoleTests {
        @Test(
            "replies of the control API match /openapi.json; 2,000 requests per second are all answered and make no frame late"
        )
        func api() throws {
            let work = try WorkDirectory()
            let room = try RunningRoom(Rooms.small(work.path("out")))
            let publishers = [
                try Publisher.pattern("ANNA", to: room.url("a"), size: "320x180"),
                try Publisher.pattern("BEN", to: room.url("b"), size: "320x180"),
            ]
            try room.segments(2)
            try Self.judgeReplies(room)
            try Self.flood(room)
            try Self.schemathesis(room)
            #expect(try room.end() == 0)
            for publisher in publishers { publisher.stop() }
        }

        private static func judgeReplies(_ room: RunningRoom) throws {
            let check = SchemaCheck(try HTTPClient.request("GET", room.control, "/openapi.json").json())
            // Overlays of a scene that is not on air are answered as well.
            let spare =
                #"{"layout":"solo","uids":["1001"],"texts":[{"textId":"word","text":"x","x":8,"y":8,"size":16}],"#
                + #""scoreBars":[{"scoreId":"points","x":0,"y":160,"width":320,"height":16}],"#
                + #""countdowns":[{"countdownId":"clock","seconds":60,"x":8,"y":40,"size":16}]}"#
            let cases: [(method: String, path: String, template: String, body: String, status: Int)] = [
                ("GET", "/v1/room", "/v1/room", "", 200), ("GET", "/v1/scenes", "/v1/scenes", "", 200),
                ("GET", "/v1/sources", "/v1/sources", "", 200), ("GET", "/v1/stats?level=debug", "/v1/stats", "", 200),
                ("GET", "/v1/events?after=0", "/v1/events", "", 200), ("GET", "/livez", "/livez", "", 200),
                ("GET", "/v1/alarms", "/v1/alarms", "", 200), ("GET", "/v1/clips", "/v1/clips", "", 200),
                ("GET", "/v1/logs?tail=5", "/v1/logs", "", 200), ("GET", "/v1/document", "/v1/document", "", 200),
                ("GET", "/version", "/version", "", 200),
                ("PUT", "/v1/program", "/v1/program", #"{"sceneId":"pk"}"#, 200),
                ("PUT", "/v1/program", "/v1/program", #"{"sceneId":"nobody"}"#, 404),
                ("PUT", "/v1/scenes/x", "/v1/scenes/{sceneId}", #"{"panes":[{"uid":"9"}]}"#, 422),
                ("PUT", "/v1/scenes/spare", "/v1/scenes/{sceneId}", spare, 200),
                ("PUT", "/v1/texts/word", "/v1/texts/{textId}", #"{"text":"y"}"#, 200),
                ("PUT", "/v1/scores/points", "/v1/scores/{scoreId}", #"{"left":1}"#, 200),
                ("PUT", "/v1/countdowns/clock", "/v1/countdowns/{countdownId}", #"{"seconds":30}"#, 200),
                ("DELETE", "/v1/scenes/spare", "/v1/scenes/{sceneId}", "", 200),
                ("PUT", "/v1/sources/1001", "/v1/sources/{uid}", #"{"volume":90}"#, 200),
                ("PUT", "/v1/log-level", "/v1/log-level", #"{"level":"info"}"#, 200),
                ("PATCH", "/v1/room?dryRun=true", "/v1/room", #"{"room":{"title":"x"}}"#, 200),
                ("POST", "/v1/renditions/180p:keyframe", "/v1/renditions/{name}:keyframe", "", 202),
                ("POST", "/v1/metadata", "/v1/metadata", #"{"type":"word","text":"x"}"#, 202),
                ("POST", "/v1/pk:start", "/v1/pk:start", "", 404),
            ]
            for (method, path, template, body, status) in cases {
                let reply = try HTTPClient.request(method, room.control, path, body: body)
                #expect(reply.status == status, "\(method) \(path): \(reply.body)")
                let schema = try #require(
                    check.schema(method, template, status: reply.status), "\(path) \(reply.status)")
                #expect(check.faults(reply.json(), schema).isEmpty, "\(path): \(check.faults(reply.json(), schema))")
            }
        }

        /// Sends 2,000 requests per second, 300 in debug builds, for `TANDEM_CONTROL_SECONDS` (4 by default). Without Python it
        /// does nothing, and that is recorded.
        private static func flood(_ room: RunningRoom) throws {
            guard let python = TestTool.find("python3") else { return }
            let seconds = ProcessInfo.processInfo.environment["TANDEM_CONTROL_SECONDS"].flatMap { Int($0) } ?? 4
            #if DEBUG
                let rate = 300
            #else
                let rate = 2_000
            #endif
            let port = try #require(room.control.split(separator: ":").last.map(String.init))
            let ticks = try #require(try room.state()["ticks"] as? [String: Any])
            let load = try Command.run(
                python,
                ["\(EndToEnd.root)/Tests/EndToEndTests/Scripts/control_load.py", port, "\(seconds)", "\(rate)"],
                timeout: Double(seconds + 20))
            #expect(load.code == 0, "\(load.errors)")
            let result = try JSONSerialization.jsonObject(with: Data(load.output.utf8)) as? [String: Any] ?? [:]
            let after = try #require(try room.state()["ticks"] as? [String: Any])
            func number(_ value: Any?) -> Int { (value as? NSNumber)?.intValue ?? -1 }
            let late = number(after["late"]) - number(ticks["late"])
            EndToEnd.report("\(rate) control requests a second for \(seconds) s: \(load.output) late frames \(late)")
            expectTiming(number(result["sent"]), atLeast: rate * seconds * 9 / 10, "requests sent")
            #expect(number(result["answered"]) == number(result["sent"]))
            let statuses = result["statuses"] as? [String: Any] ?? [:]
            #expect(statuses.keys.sorted() == ["200"], "\(statuses)")
            #if !DEBUG
                expectTiming(late, atMost: 0, "late frames")
            #endif
        }

        /// Runs schemathesis with the document's own examples and edge cases; `make api-test` generates thousands of cases.
        /// Without the tool it does nothing, and that is recorded.
        private static func schemathesis(_ room: RunningRoom) throws {
            let named = ProcessInfo.processInfo.environment["SCHEMATHESIS"]
            guard let tool = named ?? TestTool.find("schemathesis") else { return }
            let arguments = [
                "--config-file", "\(EndToEnd.root)/Tests/EndToEndTests/Scripts/schemathesis.toml", "run",
                "\(room.control)/openapi.json", "--checks", "all", "--exclude-operation-id", "endRoom",
                "--exclude-operation-id", "drainRoom", "--seed", "1", "--request-timeout", "30", "--no-color",
                "--suppress-health-check", "all", "--workers", "1", "--phases", "examples,coverage",
            ]
            let run = try Command.run(tool, arguments, timeout: 90)
            let said = run.output.split(separator: "\n").suffix(14).joined(separator: "\n")
            let cases = run.output.split(separator: "\n").first { $0.contains(" generated") }
            EndToEnd.report("schemathesis: \(cases ?? "no cases")")
            #expect(run.code == 0, "\(run.output.suffix(6_000))\(run.errors.suffix(500))")
            #expect(cases != nil, "\(said)")
            #expect(try HTTPClient.request("GET", room.control, "/livez").status == 200)
        }
    }
}
