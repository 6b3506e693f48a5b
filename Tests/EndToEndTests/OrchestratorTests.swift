import Foundation
import Glibc
import TestSupport
import Testing

extension Unhurried.Access {
    @Suite("examples/orchestrator: one worker per requested room, restarted when killed")
    struct OrchestratorTests {
        private static let folder = "\(EndToEnd.root)/examples/orchestrator"

        /// A room that costs little, as a template.
        private static let template = """
            { "room": { "roomId": "$room" }, "sources": [ { "uid": "$1" }, { "uid": "$2" } ],
              "canvas": { "width": 320, "height": 180, "fps": 10 },
              "scenes": [ { "sceneId": "pk", "layout": "sideBySide", "uids": ["$1", "$2"] } ],
              "renditions": [ { "name": "180p", "width": 320, "height": 180, "video": { "bitrate": 200000, "preset": "ultrafast" } } ],
              "outputs": [ { "type": "hls", "path": "hls", "http": { "lingerSeconds": 0 } } ] }
            """

        /// An orchestrator with the process engine, and the files it keeps in `work`.
        private struct Orchestrator {
            let work: WorkDirectory
            let child: Child
            let address: String

            init(_ work: WorkDirectory) throws {
                let python = try TestTool.require("python3")
                self.work = work
                self.child = try Child(
                    python,
                    [
                        "\(OrchestratorTests.folder)/orchestrator.py", "--tandem", EndToEnd.binary, "--listen",
                        "127.0.0.1:0", "--token-file", work.path("token"), "--state", work.path("rooms"),
                        "--templates", work.path("templates"), "--edge-keys", work.path("keys"), "--routes",
                        work.path("routes"), "--targets", work.path("targets"),
                    ])
                let pattern = /(http:\/\/127\.0\.0\.1:[0-9]+) is ready/
                let limit = Date().addingTimeInterval(10)
                while self.child.errors.firstMatch(of: pattern) == nil, self.child.isRunning, Date() < limit {
                    Thread.sleep(forTimeInterval: 0.02)
                }
                guard let ready = self.child.errors.firstMatch(of: pattern) else {
                    throw Missing("the orchestrator did not start: \(self.child.errors)")
                }
                self.address = String(ready.output.1)
            }

            func ask(_ method: String, _ path: String, body: String = "", token: String = "secret") throws
                -> HTTPClient.Reply
            {
                // Requests may wait for a room, the client for ten seconds.
                try HTTPClient.request(
                    method, self.address, path, body: body, fields: ["Authorization": "Bearer \(token)"])
            }

            /// The room once `condition` holds for it.
            func room(_ id: String, until condition: ([String: Any]) -> Bool) throws -> [String: Any] {
                let limit = Date().addingTimeInterval(10)
                var room: [String: Any] = [:]
                repeat {
                    room = try self.ask("GET", "/rooms/\(id)").json()
                    if condition(room) { return room }
                    Thread.sleep(forTimeInterval: 0.1)
                } while Date() < limit
                throw Missing("room \(id) did not get there: \(room); \(self.child.errors.suffix(800))")
            }
        }

        /// The publish addresses of a room: URL and key, by user.
        private static func publish(_ room: [String: Any]) -> [String: [String]] {
            let list = room["publish"] as? [[String: Any]] ?? []
            return Dictionary(
                list.map { ($0["uid"] as? String ?? "", [$0["url"] as? String ?? "", $0["key"] as? String ?? ""]) },
                uniquingKeysWith: { first, _ in first })
        }

        /// The process whose directory is that of a room.
        private static func worker(in directory: String) -> pid_t? {
            let real = URL(fileURLWithPath: directory).resolvingSymlinksInPath().path
            for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? [] {
                guard let pid = pid_t(name),
                    let line = try? String(contentsOfFile: "/proc/\(name)/cmdline", encoding: .utf8),
                    line.hasPrefix(EndToEnd.binary),
                    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(name)/cwd")) == real
                else { continue }
                return pid
            }
            return nil
        }

        @Test("a room keeps its addresses when its worker and the orchestrator are killed, and ends with exit code 0")
        func killed() throws {
            let work = try WorkDirectory()
            try FileManager.default.createDirectory(atPath: work.path("templates"), withIntermediateDirectories: true)
            _ = try work.write(Self.template, to: "templates/tiny.json")
            _ = try work.write("secret\n", to: "token")
            var orchestrator = try Orchestrator(work)
            defer {
                orchestrator.child.signal(SIGKILL)
                if let worker = Self.worker(in: work.path("rooms/r1")) { kill(worker, SIGKILL) }
            }
            #expect(try orchestrator.ask("GET", "/rooms", token: "wrong").status == 401)
            let body = #"{"roomId": "r1", "uids": ["1001", "2002"], "template": "tiny"}"#
            let asked = try orchestrator.ask("POST", "/rooms", body: body)
            #expect(asked.status == 201, "\(asked.body)")
            let first = asked.json()
            let addresses = Self.publish(first)
            #expect(addresses.keys.sorted() == ["1001", "2002"] && Set(addresses.values.map { $0[1] }).count == 2)
            #expect(try Self.publish(orchestrator.ask("POST", "/rooms", body: body).json()) == addresses, "idempotent")
            let other = body.replacingOccurrences(of: "2002", with: "3003")
            #expect(try orchestrator.ask("POST", "/rooms", body: other).status == 409)
            let mistaken = try orchestrator.ask("POST", "/rooms", body: #"{"uids": ["1001"], "template": "tiny"}"#)
            #expect(mistaken.status == 422 && mistaken.body.contains("is for 2 uids"), "\(mistaken.body)")

            func publishers() throws -> [Publisher] {
                try addresses.values.map {
                    try Publisher.pattern("ANNA", to: $0.joined(separator: "/"), size: "320x180")
                }
            }
            var sending = try publishers()
            _ = try orchestrator.room("r1") { $0["worker"] as? String == "live" }
            for (_, address) in addresses {
                let place = address[0].replacingOccurrences(of: "rtmp://", with: "")
                    .replacingOccurrences(of: "/live", with: "")
                #expect(try Files.text(work.path("keys/\(Edge.file("live/\(address[1])"))")) == "\(place) r1-1\n")
            }
            let viewer = (first["watch"] as? String ?? "").replacingOccurrences(of: "http://", with: "")
                .replacingOccurrences(of: "/index.m3u8", with: "")
            #expect(try Files.text(work.path("routes")) == "r1 \(viewer)\n")
            #expect(try Files.text(work.path("targets")).contains(#""room_id": "r1""#))

            // The worker, and at the same time the orchestrator, which has to find out.
            let worker = try #require(Self.worker(in: work.path("rooms/r1")))
            kill(worker, SIGKILL)
            orchestrator.child.stop(SIGKILL)
            for publisher in sending { publisher.stop() }
            orchestrator = try Orchestrator(work)
            let second = try orchestrator.room("r1") { $0["state"] as? String == "running" }
            #expect(second["restarts"] as? Int == 1 && second["exitCode"] as? Int == 137, "\(second)")
            for name in ["watch", "control"] { #expect(first[name] as? String == second[name] as? String, "\(name)") }
            #expect(Self.publish(second) == addresses)
            sending = try publishers()
            _ = try orchestrator.room("r1") { $0["worker"] as? String == "live" }

            // The orchestrator alone: nothing happens to the room.
            let successor = Self.worker(in: work.path("rooms/r1"))
            orchestrator.child.stop(SIGKILL)
            orchestrator = try Orchestrator(work)
            let third = try orchestrator.room("r1") { $0["state"] as? String == "running" }
            #expect(third["restarts"] as? Int == 1 && Self.worker(in: work.path("rooms/r1")) == successor)
            let file = try Edge.file("live/\(addresses["1001"]?[1] ?? "")")
            #expect(try Files.text(work.path("keys/\(file)")).hasSuffix(" r1-2\n"))

            let ended = try orchestrator.ask("DELETE", "/rooms/r1")
            #expect(ended.status == 200, "\(ended.body)")
            #expect(ended.json()["state"] as? String == "ended" && ended.json()["exitCode"] as? Int == 0)
            for publisher in sending { publisher.stop() }
            #expect(Self.worker(in: work.path("rooms/r1")) == nil)
            let playlist = try Playlist(contentsOf: work.path("rooms/r1/hls/180p.m3u8"))
            #expect(playlist.isEnded && playlist.mistakes.isEmpty, "\(playlist.mistakes)")
            let limit = Date().addingTimeInterval(5)
            while try Files.text(work.path("targets")) != "[]", Date() < limit { Thread.sleep(forTimeInterval: 0.1) }
            #expect(try Files.text(work.path("targets")) == "[]" && Files.text(work.path("routes")).isEmpty)
            #expect(try Files.names(in: work.path("keys")).isEmpty)
            #expect(try orchestrator.ask("POST", "/rooms", body: body).status == 409, "a room that is over stays over")
        }

        @Test("the room template of the orchestrator, with room, users and keys filled in, is a valid pipeline")
        func template() throws {
            let text = try Files.text("\(Self.folder)/templates/pk.json").replacingOccurrences(of: "$room", with: "r1")
                .replacingOccurrences(of: "\"$1\"", with: "\"1001\"").replacingOccurrences(
                    of: "\"$2\"", with: "\"2002\"")
            let keyed = text.replacingOccurrences(
                of: #"{ "uid": "1001" }, { "uid": "2002" }"#,
                with: #"{ "uid": "1001", "streamKey": "key-a" }, { "uid": "2002", "streamKey": "key-b" }"#)
            let result = try Command.tandem(["validate", "-"], input: keyed)
            #expect(result.code == 0, "\(result.errors)")
        }

        @Test(
            "orchestrator.py --help lists requests and flags; three command line errors exit with 2 and suggest a remedy"
        )
        func help() throws {
            let python = try TestTool.require("python3")
            let script = "\(Self.folder)/orchestrator.py"
            #expect(try Files.text(script).split(separator: "\n", omittingEmptySubsequences: false).count <= 401)
            let help = try Command.run(python, [script, "--help"])
            #expect(help.code == 0 && help.output.contains("POST   /rooms") && help.output.contains("--edge-keys"))
            for (arguments, remedy) in [
                (["--tandem", "/nowhere/tandem"], "--tandem PATH"),
                (["--tandem", EndToEnd.binary, "--listen", "0.0.0.0:0"], "give --token-file"),
                (["--tandem", EndToEnd.binary, "--token-file", "/dev/null"], "openssl rand"),
            ] {
                let result = try Command.run(python, [script] + arguments, timeout: 10)
                #expect(result.code == 2 && result.errors.contains(remedy), "\(result)")
            }
        }
    }
}
