import Foundation
import Glibc
import Testing

extension Unhurried.Access {
    @Suite("Lifecycle: how a room ends, and what an orchestrator sees")
    struct LifecycleTests {
        @Test(
            "SIGTERM or SIGINT ends the time in which an ended room still serves viewers, and the exit code is 0",
            arguments: [SIGTERM, SIGINT])
        func signalled(signal: Int32) throws {
            let work = try WorkDirectory()
            let text = Rooms.small(work.path("out")).replacing(
                #""http": { "#, with: #""http": { "lingerSeconds": 60, "#)
            let room = try RunningRoom(text)
            let publisher = try Publisher.pattern("ANNA", to: room.url("a"), size: "320x180")
            try room.segments(1)
            _ = try HTTPClient.request("POST", room.control, "/v1/room:end", body: "{}")
            try room.event("room.closed")
            #expect(room.child.isRunning)
            room.child.signal(signal)
            #expect(try room.child.wait(timeout: 10) == 0)
            publisher.stop()
        }

        @Test(
            "a viewer that polls every two seconds sees the playlist's end; a second room:end makes the worker exit with 0"
        )
        func slowViewer() throws {
            let work = try WorkDirectory()
            let room = try RunningRoom(Rooms.small(work.path("out")))
            let publisher = try Publisher.pattern("ANNA", to: room.url("a"), size: "320x180")
            try room.segments(2)
            let viewer = try #require(room.viewer)
            func list() throws -> String { try HTTPClient.request("GET", viewer, "/180p.m3u8").body }
            #expect(try !list().contains("#EXT-X-ENDLIST"))
            _ = try HTTPClient.request("POST", room.control, "/v1/room:end", body: "{}")
            try room.event("room.closed")
            // Together longer than an unwatched room lingers.
            for _ in 0..<2 {
                Thread.sleep(forTimeInterval: 2)
                #expect(try list().hasSuffix("#EXT-X-ENDLIST\n"))
            }
            let name = try #require(try list().split(separator: "\n").last { $0.hasSuffix(".m4s") })
            #expect(try HTTPClient.request("GET", viewer, "/\(name)").status == 200)
            let left = try ["/livez", "/readyz", "/v1/room"].map {
                try HTTPClient.request("GET", room.control, $0).status
            }
            #expect(left == [200, 503, 410])
            #expect(try HTTPClient.request("POST", room.control, "/v1/room:end", body: "{}").status == 202)
            #expect(try room.child.wait(timeout: 4) == 0)
            publisher.stop()
            // An orchestrator that restarts the room gets success only if it asks for that.
            let again = try [["run", "-"], ["run", "--ended-ok", "-"]].map {
                try Command.tandem($0, input: Rooms.small(work.path("out"))).code
            }
            #expect(again == [73, 0])
        }

        @Test("an offline job in the directory of an ended room exits with 73, and runs with --new-session")
        func endedDirectory() throws {
            let media = try Media.require()
            let work = try WorkDirectory()
            try media.make(work.path("a.mp4"), size: "320x180", seconds: 1)
            let pipeline = Rooms.offline(
                (work.path("a.mp4"), work.path("a.mp4")), seconds: 1, renditions: Rooms.small,
                outputs: #"{ "type": "hls", "path": "\#(work.path("out"))" }"#, canvas: #""width": 320, "height": 180"#)
            #expect(try Command.tandem(["run", "-"], input: pipeline).code == 0)
            let refused = try Command.tandem(["run", "-"], input: pipeline)
            #expect(refused.code == 73)
            #expect(refused.errors.contains("--new-session"), "\(refused.errors)")
            #expect(try Command.tandem(["run", "-", "--new-session"], input: pipeline).code == 0)
            #expect(try Playlist(contentsOf: work.path("out/180p.m3u8")).isEnded)
        }

        @Test(
            "unknown subcommands and flags, and missing or invalid arguments exit with 64",
            arguments: [
                ["run", "x.json", "--nope"], ["run"], ["run", "-", "--set", "noequals"], ["dance"],
                ["run", "-", "--duration", "0"],
                ["manifest", "-", "--for", "k8s", "--viewers", "9223372036854775807"],
            ])
        func usage(arguments: [String]) throws {
            let result = try Command.tandem(arguments, input: "{}")
            #expect(result.code == 64)
            #expect(!result.errors.isEmpty)
        }

        @Test(
            "with an invalid pipeline, a command exits with 65; errors have path, line, column and remedy; nothing is created",
            arguments: ["run", "validate"])
        func brokenPipeline(command: String) throws {
            let work = try WorkDirectory()
            let text = Rooms.small(work.path("out")).replacingOccurrences(of: "\"canvas\"", with: "\"canvs\"")
                .replacingOccurrences(of: "\"layout\": \"sideBySide\"", with: "\"layout\": \"sidebyside\"")
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            let line = try #require(lines.firstIndex { $0.contains("canvs") }) + 1
            let column = try #require(lines[line - 1].firstIndex(of: "\"")).utf16Offset(in: lines[line - 1]) + 1
            let result = try Command.tandem([command, try work.write(text, to: "room.json")])
            #expect(result.code == 65)
            #expect(result.errors.contains(":\(line):\(column)"), "\(result.errors)")
            #expect(result.errors.contains("canvs") && result.errors.contains("\"canvas\""), "\(result.errors)")
            #expect(
                result.errors.contains("scenes[2].layout") && result.errors.contains("sideBySide"), "\(result.errors)")
            #expect(
                !FileManager.default.fileExists(atPath: work.path("out")), "nothing is created for a broken pipeline")
            #expect(result.errors.contains("[configInvalid]") == (command == "run"), "\(result.errors)")
        }

        @Test(
            "a pipeline file, source file or playback secret that does not exist is named, and the command exits with 66"
        )
        func missingFiles() throws {
            let work = try WorkDirectory()
            let noPipeline = try Command.tandem(["run", work.path("no.json")])
            #expect(noPipeline.code == 66 && noPipeline.errors.contains("no.json"), "\(noPipeline.errors)")
            let pipeline = Rooms.offline(
                (work.path("no.mp4"), work.path("no.mp4")), seconds: 1, renditions: Rooms.small,
                outputs: #"{ "type": "hls", "path": "\#(work.path("out"))" }"#)
            let noSource = try Command.tandem(["run", "-"], input: pipeline)
            #expect(noSource.code == 66 && noSource.errors.contains("no.mp4"), "\(noSource.errors)")
            let listener = #""http": { "listen": "127.0.0.1:0""#
            let signed = Rooms.small(work.path("out")).replacingOccurrences(
                of: listener + " }",
                with: listener + #", "signedUrls": { "secretFile": "\#(work.path("no.key"))" } }"#)
            let noSecret = try Command.tandem(["sign-url", "-", "/index.m3u8"], input: signed)
            #expect(noSecret.code == 66 && noSecret.errors.contains("no.key"), "\(noSecret.code) \(noSecret.errors)")
        }

        @Test(
            "a room whose port for publishers, viewers or operators is in use exits with 69 and names the port",
            arguments: ["rtmp", "http", "control"])
        func takenPort(listener: String) throws {
            let work = try WorkDirectory()
            let path =
                [
                    "rtmp": "ingest.rtmp.listen", "http": "outputs[0].http.listen", "control": "control.listen",
                ][listener] ?? ""
            try LoopbackAddress.withTakenPort { port in
                let result = try Command.tandem(
                    ["run", "-", "--set", "\(path)=127.0.0.1:\(port)"], input: Rooms.small(work.path("out")),
                    timeout: 20)
                #expect(result.code == 69 && result.errors.contains("\(port)"), "\(result.code) \(result.errors)")
            }
        }

        @Test("a second run of a live room on the same port exits with 69, and the first worker stays live")
        func secondRun() throws {
            let work = try WorkDirectory()
            let room = try RunningRoom(Rooms.small(work.path("out")))
            let publisher = try Publisher.pattern("ANNA", to: room.url("a"), size: "320x180")
            try room.segments(1)
            let port = String(room.rtmp.dropFirst("rtmp://".count))
            let second = try Command.tandem(
                ["run", "-"], input: Rooms.small(work.path("out"), rtmp: port), timeout: 20)
            #expect(second.code == 69 && second.errors.contains(port), "\(second.code) \(second.errors)")
            // A claim would be noticed with the next write.
            try room.segments(3)
            #expect(room.child.isRunning && room.events("room.superseded").isEmpty)
            publisher.stop()
            #expect(try room.end() == 0)
        }

        @Test("a room whose output directory is a file exits with 73 and leaves the file unchanged")
        func outputIsFile() throws {
            let work = try WorkDirectory()
            let file = try work.write("not a directory", to: "out")
            let result = try Command.tandem(["run", "-"], input: Rooms.small(file), timeout: 20)
            #expect(result.code == 73 && result.errors.contains(file), "\(result.code) \(result.errors)")
            #expect(try Files.text(file) == "not a directory")
        }

        @Test(
            "a room without publishers exits with 0 after SIGINT, 143 after SIGTERM; its core dumps are off unless enabled",
            arguments: [(SIGINT, Int32(0)), (SIGTERM, Int32(143))] as [(Int32, Int32)])
        func nobodyCame(signal: Int32, code: Int32) throws {
            let work = try WorkDirectory()
            // With the soft limit of a machine that collects core files.
            let tandem = try work.write(
                "#!/bin/bash\nulimit -Sc hard\nexec '\(EndToEnd.binary)' \"$@\"\n", to: "tandem")
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: tandem)
            let asksForCoreDumps = signal == SIGTERM
            let room = try RunningRoom(
                Rooms.small(work.path("out")), environment: ["TANDEM_CORE_DUMPS": asksForCoreDumps ? "1" : "0"],
                binary: tandem)
            let limits = try Self.coreLimits(of: room.child.pid)
            #expect(limits.soft == (asksForCoreDumps ? limits.hard : "0"))
            #expect(try room.terminate(signal) == code)
            #expect(room.events("room.closed").count == 1)
        }

        /// Core file size limits of a process, in bytes.
        private static func coreLimits(of process: pid_t) throws -> (soft: String, hard: String) {
            let line = try Files.text("/proc/\(process)/limits").split(separator: "\n")
                .first { $0.hasPrefix("Max core file size") }
            let words = try #require(line).split(separator: " ").map(String.init)
            try #require(words.count >= 6)
            return (words[4], words[5])
        }
    }
}
