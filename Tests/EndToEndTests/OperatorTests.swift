import Foundation
import Glibc
import TestSupport
import Testing

extension Unhurried.Access {
    @Suite("Webhooks, events and commands of a live room")
    struct OperatorTests {
        private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

        private static func room(_ directory: String, port: String) -> String {
            Rooms.small(
                directory,
                members: """
                    "control": { "events": [{ "type": "webhook", "url": "http://127.0.0.1:\(port)/rooms?token=0123456789", "secretEnv": "HOOK_SECRET",
                      "types": ["room.*", "source.live", "webhook.*"] }] },
                    """)
        }

        private static func events(_ receiver: Child) -> [(number: Int, type: String)] {
            receiver.outputLines.compactMap { line in
                let words = line.split(separator: " ")
                guard words.first == "event", words.count == 4, let number = Int(words[1]) else { return nil }
                return (number, String(words[2]))
            }
        }

        @Test(
            "events that a drained worker could not deliver reach the webhook through its successor, in order and once")
        func webhooks() throws {
            let python = try TestTool.require("python3")
            _ = try Media.require()
            let work = try WorkDirectory()
            // In the abstract namespace, where no file is left behind.
            let (socket, refuse) = ("@tandem-\(UUID().uuidString)", work.path("refuse"))
            let receiver = try Child(
                python,
                ["\(EndToEnd.root)/Tests/EndToEndTests/Scripts/receiver.py", Self.secret, socket, refuse])
            defer { receiver.stop(SIGKILL) }
            let port = try #require(receiver.line(from: 0, timeout: 10) { _ in true }).line
            let environment = [
                "HOOK_SECRET": Self.secret, "NOTIFY_SOCKET": socket, "WATCHDOG_USEC": "2000000", "POD_NAME": "pod-7",
            ]
            let pipeline = Self.room(work.path("out"), port: port)

            let first = try RunningRoom(pipeline, environment: environment)
            let publisher = try Publisher.pattern("ANNA", to: first.url("a"), size: "320x180")
            try first.event("source.live")
            #expect(receiver.line(from: 0, timeout: 10) { $0.hasPrefix("event") && $0.contains("source.live") } != nil)
            // From here on no event is accepted: the successor must deliver what the worker emits until it ends.
            _ = FileManager.default.createFile(atPath: refuse, contents: nil)
            publisher.stop()
            _ = try HTTPClient.request("POST", first.control, "/v1/room:drain")
            try first.event("room.draining")
            _ = try first.child.wait(timeout: 20)

            let second = try RunningRoom(pipeline, environment: environment)
            let kept = try HTTPClient.request("GET", second.control, "/v1/events?after=0")
            #expect(kept.body.contains("room.draining"), "events of the worker before can still be read")
            try FileManager.default.removeItem(atPath: refuse)
            let again = try Publisher.pattern("ANNA", to: second.url("a"), size: "320x180")
            try second.event("source.live")
            try self.watch(second)
            try self.rewrite(second)
            second.child.signal(SIGHUP)
            let reloading = try #require(
                receiver.line(from: 0, timeout: 10) { $0 == "notify RELOADING=1" },
                "the start of the reload was reported")
            #expect(
                receiver.line(from: reloading.next, timeout: 10) { $0 == "notify READY=1" } != nil, "and of its end")
            let logs = try HTTPClient.request("GET", second.control, "/v1/logs?tail=20").body
            let line = logs.split(separator: "{").first { $0.contains("secrets of webhooks read again") } ?? ""
            for member in [#""room":"e2e""#, #""instance":"pod-7""#, #""incarnation":"2""#] {
                #expect(line.contains(member), "\(member): \(line)")
            }
            again.stop()
            #expect(try second.end() == 0)

            let told = Self.events(receiver)
            let numbers = told.map(\.number)
            #expect(numbers == Array(Set(numbers)).sorted(), "in order and once: \(told)")
            let types = told.map(\.type).filter { !$0.hasPrefix("webhook") && $0 != "room.state" }
            #expect(
                types == [
                    "room.ready", "source.live", "room.draining", "room.closed", "room.ready", "source.live",
                    "room.changed", "room.changed", "room.changed", "room.ending", "room.closed",
                ])
            #expect(told.contains { $0.type == "webhook.failing" })
            let notified = receiver.outputLines.filter { $0.hasPrefix("notify") }
            for line in ["notify READY=1", "notify WATCHDOG=1", "notify STOPPING=1"] {
                #expect(notified.contains(line), "\(line) is not among \(notified)")
            }
            #expect(notified.contains { $0.hasPrefix("notify STATUS=live, 1 of 2 sources live") })
        }

        /// Checks the event stream, metrics, scene commands and health of a live room with `tandem ctl` and HTTP requests.
        private func watch(_ room: RunningRoom) throws {
            let follower = try Child(EndToEnd.binary, ["ctl", "events", "--follow", "-a", room.control])
            #expect(follower.line(from: 0, timeout: 10) { $0.contains("source.live") } != nil)
            let metrics = try HTTPClient.request("GET", room.control, "/metrics").body
            for line in [
                #"tandem_state{state="live"} 1"#, #"tandem_source_state{uid="1001",stream_type="main",state="live"} 1"#,
                #"tandem_send_to_part_seconds_bucket{rendition="180p",le="+Inf"}"#, "process_resident_memory_bytes ",
                #"tandem_build_info{version=""#,
            ] { #expect(metrics.contains(line), "\(line) is not in the metrics") }
            let scene = try Command.run(EndToEnd.binary, ["ctl", "scene", "guest", "-a", room.control], timeout: 10)
            #expect(scene.code == 0 && scene.output.contains("tick"), "\(scene.output)\(scene.errors)")
            let wrong = try Command.run(EndToEnd.binary, ["ctl", "scene", "gest", "-a", room.control], timeout: 10)
            #expect(wrong.code == 1 && wrong.errors.contains("guest"), "\(wrong.errors)")
            let health = try Command.run(EndToEnd.binary, ["healthcheck", room.control], timeout: 10)
            #expect(health.code == 0 && health.output.contains("pass"), "\(health.output)\(health.errors)")
            for name in try Self.watchedMetrics() {
                #expect(metrics.contains("\n\(name)"), "deploy/ uses \(name), which the room does not export")
            }
            #expect(
                follower.line(from: 0, timeout: 10) { $0.contains("program.scene") } != nil,
                "the event stream continues"
            )
            follower.stop(SIGTERM)
        }

        /// Changes the room's document with one request after another, and checks the replies and events.
        private func rewrite(_ room: RunningRoom) throws {
            func ctl(_ words: [String], input: String? = nil, _ code: Int32 = 0) throws -> [String: Any] {
                let result = try Command.run(
                    EndToEnd.binary, ["ctl"] + words + ["-a", room.control], input: input, timeout: 10)
                #expect(result.code == code, "\(words): \(result.output)\(result.errors)")
                let text = code == 0 ? result.output : result.errors
                let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
                return try #require(object, "\(text)")
            }
            func title() throws -> String? { try room.state()["title"] as? String }
            #expect(try ctl(["document"])["revision"] as? Int == 0)
            let scenes =
                #"[{"sceneId":"solo","layout":"solo","uids":["1001"]},{"sceneId":"wide","layout":"topBottom","uids":["1001","2002"]}]"#
            let patch =
                #"{"room":{"title":"one"},"scenes":\#(scenes),"program":{"scene":"wide"},"alarms":{"windowMs":4000}}"#
            // It is validated first, then on air from one tick.
            let dry = try ctl(["patch", patch, "--dry-run"])
            #expect(dry["changed"] as? Bool == false && dry["dryRun"] as? Bool == true)
            #expect(try title() == nil)
            let done = try ctl(["patch", patch])
            #expect(done["revision"] as? Int == 1 && done["changed"] as? Bool == true && done["tick"] is Int, "\(done)")
            #expect((done["applied"] as? [String])?.contains("alarms.windowMs") == true)
            let program = try room.state()["program"] as? [String: Any]
            #expect(program?["scene"] as? String == "wide" && program?["scenes"] as? [String] == ["solo", "wide"])
            #expect(try title() == "one")
            let told = try room.event("room.changed")
            #expect(told.integer("revision") == 1)
            #expect(room.events("scene.changed").map { $0.text("scene") } == ["wide"])
            #expect(Set(room.events("scene.removed").map { $0.text("scene") }) == ["guest", "pk"])
            // A dry run is refused like the request itself.
            try room.put(scene: "solo")
            let without = #"{"scenes":[{"sceneId":"wide","layout":"topBottom","uids":["1001","2002"]}]}"#
            for words in [["patch", without, "--dry-run"], ["patch", without]] {
                let refused = try ctl(words, 1)
                #expect(refused["status"] as? Int == 409 && refused["code"] as? String == "requestFailed", "\(refused)")
            }
            try room.put(scene: "wide")
            let torn = try ctl(["patch", #"{"room":{"title":"#], 1)
            #expect(torn["status"] as? Int == 400, "\(torn)")
            // A change that a running room cannot make is refused together with all others of the request.
            let refused = try ctl(["patch", #"{"room":{"title":"two"},"canvas":{"fps":25}}"#], 1)
            #expect(refused["code"] as? String == "needsRestart")
            let paths = (refused["errors"] as? [[String: Any]])?.compactMap { $0["path"] as? String }
            #expect(paths == ["canvas.fps"], "\(refused)")
            let onAir = try ctl([
                "patch",
                #"{"room":{"title":"two"},"scenes":[{"sceneId":"solo","layout":"solo","uids":["1001"]}],"program":null}"#,
            ])
            #expect(onAir["changed"] as? Bool == true, "the first scene belongs to the program again: \(onAir)")
            #expect((try room.state()["program"] as? [String: Any])?["scene"] as? String == "solo")
            let gone = try ctl(
                [
                    "patch",
                    #"{"scenes":[{"sceneId":"other","layout":"solo","uids":["2002"]}],"program":{"scene":"solo"}}"#,
                ], 1)
            #expect(gone["status"] as? Int == 422, "\(gone)")
            let older = try ctl(["patch", #"{"revision":1,"room":{"title":"three"}}"#], 1)
            #expect(try older["code"] as? String == "superseded" && title() == "two")
            // A new key: the publisher on air stays, the next one needs the new key.
            var whole = try ctl(["document"])
            whole["revision"] = 9
            whole["sources"] = [
                ["uid": "1001", "streamKey": "another-5ecret"], ["uid": "2002", "streamKey": "b-5ecret31c0"],
            ]
            let text = String(decoding: try JSONSerialization.data(withJSONObject: whole), as: UTF8.self)
            let applied = try ctl(["apply", "-"], input: text, 1)
            #expect(
                (applied["errors"] as? [[String: Any]])?.contains {
                    ($0["path"] as? String)?.hasPrefix("control.events") == true
                } == true,
                "a webhook's URL is shown without possible secrets, and this form is not taken for the whole URL: \(applied)"
            )
            let keys =
                #"{"revision":9,"sources":[{"uid":"1001","streamKey":"\#(room.key("another-5ecret"))"},{"uid":"2002","streamKey":"\#(room.key("b"))"}]}"#
            #expect(try ctl(["patch", keys])["revision"] as? Int == 9)
            #expect(
                try room.state()["sources"].flatMap { ($0 as? [[String: Any]])?.first?["state"] as? String } == "live")
            let wrong = try Publisher.pattern("BEN", to: room.url("a"), size: "320x180", seconds: 2)
            try room.event("ingest.refused", timeout: 10)
            wrong.stop()
            let replay = try ctl(["patch", keys])
            #expect(replay["changed"] as? Bool == false && replay["revision"] as? Int == 9)
        }

        /// Seconds for which one receiver is down and one fails: `TANDEM_HOOK_OUTAGE=60`; nil skips the test.
        private static let outageSeconds =
            ProcessInfo.processInfo.environment["TANDEM_HOOK_OUTAGE"].flatMap { Double($0) }

        @Test(
            "a webhook receiver that was down or failing gets every event once, in order; a slow one gets them in order; no frame is late",
            .enabled(if: Self.outageSeconds != nil, "by TANDEM_HOOK_OUTAGE=60: the seconds that the receivers are away")
        )
        func outage() throws {
            let outage = try #require(Self.outageSeconds)
            let python = try TestTool.require("python3")
            _ = try Media.require()
            let work = try WorkDirectory()
            let script = "\(EndToEnd.root)/Tests/EndToEndTests/Scripts/receiver.py"
            let away = try LoopbackAddress.withTakenPort { $0 }
            func receiver(_ name: String, port: UInt16 = 0, seconds: Double = 0) throws -> (Child, String) {
                let child = try Child(
                    python,
                    [
                        script, Self.secret, work.path("\(name).notify"), work.path("\(name).refuse"), "\(port)",
                        "\(seconds)",
                    ])
                return (child, try #require(child.line(from: 0, timeout: 10) { _ in true }).line)
            }
            _ = FileManager.default.createFile(atPath: work.path("wrong.refuse"), contents: nil)
            let (slow, slowPort) = try receiver("slow", seconds: 2)
            let (wrong, wrongPort) = try receiver("wrong")
            let hooks = [
                ("\(away)", "[]"), (slowPort, #"["room.*", "source.live", "program.started"]"#), (wrongPort, "[]"),
            ]
            .map {
                #"{ "type": "webhook", "url": "http://127.0.0.1:\#($0)/", "secretEnv": "HOOK_SECRET", "types": \#($1) }"#
            }
            let room = try RunningRoom(
                Rooms.small(
                    work.path("out"), members: #""control": { "events": [\#(hooks.joined(separator: ", "))] },"#),
                environment: ["HOOK_SECRET": Self.secret])
            let publisher = try Publisher.pattern("ANNA", to: room.url("a"), size: "320x180")
            try room.event("source.live")
            let end = Date().addingTimeInterval(outage)
            var isPK = false
            while Date() < end {
                isPK.toggle()
                try room.put(scene: isPK ? "pk" : "solo")
                Thread.sleep(forTimeInterval: 1)
            }
            let (back, _) = try receiver("back", port: away)
            try FileManager.default.removeItem(atPath: work.path("wrong.refuse"))
            let last = try #require(room.events.last?.integer("sequence"))
            for (name, child) in [("away", back), ("wrong", wrong)] {
                #expect(
                    child.line(from: 0, timeout: 45) { line in
                        let words = line.split(separator: " ")
                        return words.first == "event" && words.count == 4 && (Int(words[1]) ?? 0) >= last
                    } != nil,
                    "\(name): event \(last) does not arrive; \(Self.events(child).last.map { "\($0)" } ?? "none")")
                let numbers = Self.events(child).map(\.number)
                #expect(numbers == Array(1..<((numbers.last ?? 0) + 1)), "\(name): every event, in order, once")
            }
            let ticks = try #require(try room.state()["ticks"] as? [String: Any])
            expectOnTime(ticks)
            publisher.stop()
            #expect(try room.end(timeout: 30) == 0)
            let numbers = Self.events(slow).map(\.number)
            #expect(numbers == numbers.sorted() && Self.events(slow).first?.type == "room.ready")
            #expect(room.events("webhook.lost").isEmpty)
            EndToEnd.report("receivers away, slow and wrong for \(outage) s: \(last) events, ticks \(ticks)")
            for child in [slow, wrong, back] { child.stop(SIGKILL) }
        }

        /// Metrics of what this room does not have: an alarm, a certificate, an RTMP output, an upload, and as yet a segment.
        private static let absentMetrics: Set<String> = [
            "tandem_alarms", "tandem_certificate_expiry_timestamp_seconds", "tandem_output_sent_bytes_total",
            "tandem_upload_bytes_total", "tandem_rendition_bytes_per_second",
        ]

        /// Metric names used in the dashboard and the alert rules, without ``absentMetrics``.
        private static func watchedMetrics() throws -> Set<String> {
            let deploy = "\(EndToEnd.root)/deploy"
            let text = try Files.text("\(deploy)/grafana/tandem.json") + Files.text("\(deploy)/prometheus/alerts.yml")
            // Samples of a histogram have its name with a suffix. Names with a colon are of recording rules.
            let names = Set(text.matches(of: /[a-z][a-z_:]+[a-z]/).map { String($0.output) })
            return names.filter { ($0.hasPrefix("tandem_") || $0.hasPrefix("process_")) && !$0.contains(":") }
                .subtracting(self.absentMetrics)
        }

        @Test("`tandem healthcheck` exits with 1 and `tandem ctl` with 69 if no room runs at the address")
        func absent() throws {
            let health = try Command.run(EndToEnd.binary, ["healthcheck", "http://127.0.0.1:9"], timeout: 10)
            #expect(health.code == 1 && !health.errors.isEmpty)
            let state = try Command.run(EndToEnd.binary, ["ctl", "state", "-a", "http://127.0.0.1:9"], timeout: 20)
            #expect(state.code == 69 && state.errors.contains("room.ready"), "\(state.errors)")
        }
    }
}
