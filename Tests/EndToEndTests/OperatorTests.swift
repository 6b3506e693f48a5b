import Foundation
import Glibc
import Testing

extension EndToEnd {
    @Suite("What an orchestrator is told and asks: webhooks, events, metrics, a service manager")
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

        @Test("a killed worker's events reach the webhook through its successor, in order and once")
        func webhooks() throws {
            guard let python = EndToEnd.tool("python3"), Media.find() != nil else { return }
            let work = try WorkDirectory()
            let (socket, refuse) = (work.path("notify"), work.path("refuse"))
            let receiver = try Child(
                python,
                ["\(EndToEnd.root)/Tests/EndToEndTests/Scripts/receiver.py", Self.secret, socket, refuse])
            defer { receiver.stop(SIGKILL) }
            let port = try #require(receiver.line(from: 0, timeout: 10) { _ in true }).line
            let environment = ["HOOK_SECRET": Self.secret, "NOTIFY_SOCKET": socket, "WATCHDOG_USEC": "2000000"]
            let pipeline = Self.room(work.path("out"), port: port)

            let first = try RunningRoom(pipeline, environment: environment)
            let publisher = try Publisher.pattern("ANNA", to: first.url("a"), size: "320x180")
            try first.event("source.live")
            #expect(receiver.line(from: 0, timeout: 10) { $0.hasPrefix("event") && $0.contains("source.live") } != nil)
            // From here on nothing is taken: what the worker tells until it is killed is its successor's to deliver.
            FileManager.default.createFile(atPath: refuse, contents: nil)
            publisher.stop()
            _ = try HTTPClient.request("POST", first.control, "/v1/room:drain")
            try first.event("room.draining")
            _ = try first.child.wait(timeout: 20)

            let second = try RunningRoom(pipeline, environment: environment)
            let kept = try HTTPClient.request("GET", second.control, "/v1/events?after=0")
            #expect(kept.body.contains("room.draining"), "what the worker before told can still be asked for")
            try FileManager.default.removeItem(atPath: refuse)
            let again = try Publisher.pattern("ANNA", to: second.url("a"), size: "320x180")
            try second.event("source.live")
            try self.watch(second)
            again.stop()
            #expect(try second.end() == 0)

            let told = Self.events(receiver)
            let numbers = told.map(\.number)
            #expect(numbers == Array(Set(numbers)).sorted(), "in order and once: \(told)")
            let types = told.map(\.type).filter { !$0.hasPrefix("webhook") }
            #expect(
                types == [
                    "room.ready", "source.live", "room.draining", "room.closed", "room.ready", "source.live",
                    "room.ending", "room.closed",
                ])
            #expect(told.contains { $0.type == "webhook.failing" })
            let notified = receiver.outputLines.filter { $0.hasPrefix("notify") }
            for line in ["notify READY=1", "notify WATCHDOG=1", "notify STOPPING=1"] {
                #expect(notified.contains(line), "\(line) is not among \(notified)")
            }
            #expect(notified.contains { $0.hasPrefix("notify STATUS=live, 1 of 2 sources live") })
        }

        /// Everything a room tells while it lives, as its operator asks for it.
        private func watch(_ room: RunningRoom) throws {
            let follower = try Child(EndToEnd.binary, ["ctl", "events", "--follow", "-a", room.control])
            #expect(follower.line(from: 0, timeout: 10) { $0.contains("source.live") } != nil)
            let scene = try Command.run(EndToEnd.binary, ["ctl", "scene", "guest", "-a", room.control], timeout: 10)
            #expect(scene.code == 0 && scene.output.contains("tick"), "\(scene.output)\(scene.errors)")
            let wrong = try Command.run(EndToEnd.binary, ["ctl", "scene", "gest", "-a", room.control], timeout: 10)
            #expect(wrong.code == 1 && wrong.errors.contains("guest"), "\(wrong.errors)")
            let health = try Command.run(EndToEnd.binary, ["healthcheck", room.control], timeout: 10)
            #expect(health.code == 0 && health.output.contains("pass"), "\(health.output)\(health.errors)")
            let metrics = try HTTPClient.request("GET", room.control, "/metrics").body
            for line in [
                #"tandem_state{state="live"} 1"#, #"tandem_source_state{uid="1001",stream_type="main",state="live"} 1"#,
                #"tandem_send_to_part_seconds_bucket{le="+Inf"}"#, "process_resident_memory_bytes ",
            ] { #expect(metrics.contains(line), "\(line) is not in the metrics") }
            for name in try Self.watchedMetrics() {
                #expect(metrics.contains("\n\(name)"), "deploy/ asks for \(name), which the room does not tell")
            }
            #expect(
                follower.line(from: 0, timeout: 10) { $0.contains("program.scene") } != nil, "events go on as they come"
            )
            follower.stop(SIGTERM)
        }

        /// Names in the dashboard and the alert rules, as they stand in a room's metrics.
        private static func watchedMetrics() throws -> Set<String> {
            let deploy = "\(EndToEnd.root)/deploy"
            let text = try Files.text("\(deploy)/grafana/tandem.json") + Files.text("\(deploy)/prometheus/alerts.yml")
            // A histogram's family bears its name with a suffix.
            return Set(text.matches(of: /(tandem|process)_[a-z_]+[a-z]/).map { String($0.output.0) })
        }

        @Test("a room that is not there is no success")
        func absent() throws {
            let health = try Command.run(EndToEnd.binary, ["healthcheck", "http://127.0.0.1:9"], timeout: 10)
            #expect(health.code == 1 && !health.errors.isEmpty)
            let state = try Command.run(EndToEnd.binary, ["ctl", "state", "-a", "http://127.0.0.1:9"], timeout: 20)
            #expect(state.code == 69 && state.errors.contains("room.ready"), "\(state.errors)")
        }
    }
}
