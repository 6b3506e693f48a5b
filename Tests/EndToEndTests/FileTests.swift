import Foundation
import Glibc
import TestSupport
import Testing

extension Unhurried.Records {
    @Suite("The pipeline file and its secrets, changed while the room runs")
    struct FileTests {
        /// Like the kubelet when a ConfigMap or a Secret has changed: it switches the link `..data`.
        private static func mount(_ files: [String: String], at directory: String, turn: Int) throws {
            let version = "..turn_\(turn)"
            try FileManager.default.createDirectory(
                atPath: "\(directory)/\(version)", withIntermediateDirectories: true)
            for (name, text) in files {
                try Data(text.utf8).write(to: URL(fileURLWithPath: "\(directory)/\(version)/\(name)"))
                if turn == 1 { try #require(symlink("..data/\(name)", "\(directory)/\(name)") == 0) }
            }
            try #require(symlink(version, "\(directory)/..data_tmp") == 0)
            try #require(rename("\(directory)/..data_tmp", "\(directory)/..data") == 0)
        }

        private static func pipeline(
            _ work: WorkDirectory, hook: String, title: String, window: Int = 600
        ) -> String {
            let control = """
                "control": { "tokenFile": "\(work.path("mount/token"))", "events": [{ "type": "webhook",
                  "url": "http://127.0.0.1:\(hook)/hook", "secretFile": "\(work.path("mount/secret"))",
                  "types": ["webhook.secretsRenewed"] }] },
                """
            let text = Rooms.small(work.path("out"), members: control)
                .replacingOccurrences(
                    of: #""room": { "roomId": "e2e" }"#, with: #""room": { "roomId": "e2e", "title": "\#(title)" }"#
                ).replacingOccurrences(of: #""windowSeconds": 600"#, with: #""windowSeconds": \#(window)"#)
            return SecretWatch.hiding(in: text)
        }

        @Test(
            "a new version of a mounted ConfigMap and its secrets is applied; an invalid one raises an alarm and changes nothing"
        )
        func configMap() throws {
            let python = try TestTool.require("python3")
            let work = try WorkDirectory()
            let mount = work.path("mount")
            let (first, second) = ("token-of-the-first-hour", "token-of-the-second-hour")
            // Ends at the first event signed with a secret other than the second one.
            let secrets = ["whsec_Zmlyc3QtZmlyc3QtZmlyc3QtZmlyc3Q=", "whsec_c2Vjb25kLXNlY29uZC1zZWNvbmQtMTI="]
            let script = "\(EndToEnd.root)/Tests/EndToEndTests/Scripts/receiver.py"
            let receiver = try Child(python, [script, secrets[1], work.path("notify"), work.path("refuse")])
            defer { receiver.stop(SIGKILL) }
            let hook = try #require(receiver.line(from: 0, timeout: 10) { _ in true }).line
            func pipeline(_ title: String, window: Int = 600) -> String {
                Self.pipeline(work, hook: hook, title: title, window: window)
            }
            func turn(_ number: Int, _ pipeline: String) throws {
                let isFirst = number == 1
                try Self.mount(
                    ["room.json": pipeline, "token": isFirst ? first : second, "secret": secrets[isFirst ? 0 : 1]],
                    at: mount, turn: number)
            }
            try turn(1, pipeline("one"))
            let room = try RunningRoom("\(mount)/room.json")
            func ctl(_ words: [String], token: String, _ code: Int32 = 0) throws -> String {
                let file = try work.write(token, to: "token-of-the-test")
                let result = try Command.run(
                    EndToEnd.binary, ["ctl"] + words + ["--token-file", file, "-a", room.control], timeout: 10)
                #expect(result.code == code, "\(words): \(result.output)\(result.errors)")
                return result.output + result.errors
            }
            #expect(try ctl(["state"], token: first).contains(#""title":"one""#))

            try turn(2, pipeline("two"))
            let changed = try room.event("room.changed")
            #expect(changed.strings("applied") == ["room.title"])
            try room.event("control.tokensRenewed")
            try room.event("webhook.secretsRenewed")
            let told = receiver.line(from: 1, timeout: 10) { $0.contains("secretsRenewed") || $0.contains("wrong") }
            #expect(told?.line.contains("secretsRenewed") == true, "\(receiver.outputLines)")
            #expect(try ctl(["state"], token: first, 1).contains("401"))
            // A client that follows a stream sees a refusal too: the room's message, and exit code 1.
            for words in [["events", "--follow"], ["stats", "--follow"]] {
                #expect(try ctl(words, token: first, 1).contains("Authorization: Bearer"))
            }
            #expect(try Command.tandem(["ctl", "events", "--follow", "-a", "nowhere"]).code == 64)
            #expect(try ctl(["state"], token: second).contains(#""title":"two""#))

            // A document with both forbidden and allowed changes: none of them is applied.
            try turn(3, pipeline("three", window: 60))
            let invalid = try room.event("config.invalid")
            #expect(invalid.text("code") == "needsRestart", "\(invalid.line)")
            #expect(invalid.line.contains("outputs[0].windowSeconds"), "\(invalid.line)")
            // Alarms are checked once a second.
            var state = ""
            for _ in 0..<200 where !state.contains(#""type":"config.invalid""#) {
                state = try ctl(["state"], token: second)
            }
            #expect(state.contains(#""type":"config.invalid""#) && state.contains(#""title":"two""#), "\(state)")

            try turn(4, pipeline("four"))
            try room.event("config.restored")
            #expect(try ctl(["state"], token: second).contains(#""title":"four""#))
            // A partial JSON file, reported at once by SIGHUP.
            let start = room.now
            try turn(5, #"{"room": {"#)
            room.child.signal(SIGHUP)
            let torn = try room.event("config.invalid", from: start) { $0.text("code") == "invalidFormat" }
            #expect(torn.text("file") == "\(mount)/room.json")
            _ = try ctl(["end"], token: second)
            #expect(try room.over(timeout: 20) == 0, "\(room.child.errors.suffix(800))")
        }

        @Test(
            "stream keys and playback secrets in a mounted Secret are reloaded without a signal; the old ones are refused"
        )
        func secrets() throws {
            let work = try WorkDirectory()
            let mount = work.path("mount")
            func turn(_ number: Int, _ word: String) throws {
                try Self.mount(
                    ["key": "stream-key-\(word)", "playback": "playback-secret-\(word)"], at: mount, turn: number)
            }
            try turn(1, "of-the-first-hour")
            let pipeline = Rooms.small(work.path("out"))
                .replacingOccurrences(of: #""streamKey": "a""#, with: #""streamKeyFile": "\#(mount)/key""#)
                .replacingOccurrences(
                    of: #""http": { "listen": "127.0.0.1:0" }"#,
                    with: #""http": { "listen": "127.0.0.1:0", "signedUrls": { "secretFile": "\#(mount)/playback" } }"#)
            let room = try RunningRoom(pipeline)
            let viewer = try #require(room.viewer)
            func signed() throws -> String {
                let result = try Command.tandem(["sign-url", "-", "/index.m3u8"], input: pipeline)
                return result.output.trimmingCharacters(in: .whitespacesAndNewlines)
            }
            let first = try signed()
            #expect(try HTTPClient.request("GET", viewer, first).status != 403)
            let start = room.now
            try turn(2, "of-the-second-hour")
            try room.event("ingest.keysRenewed", from: start)
            try room.event("playback.secretsRenewed", from: start)
            #expect(try HTTPClient.request("GET", viewer, first).status == 403)
            #expect(try HTTPClient.request("GET", viewer, signed()).status != 403)
            let wrong = try Publisher.pattern("BEN", to: room.url("stream-key-of-the-first-hour"), size: "320x180")
            try room.event("ingest.refused", timeout: 10)
            wrong.stop(SIGKILL)
            let right = try Publisher.pattern("ANNA", to: room.url("stream-key-of-the-second-hour"), size: "320x180")
            try room.event("source.live")
            right.stop()
            #expect(try room.end() == 0)
        }

        @Test("a worker that gets SIGHUP while it is still reading its pipeline file starts the room nevertheless")
        func early() throws {
            let work = try WorkDirectory()
            let pipe = work.path("room.json")
            try #require(mkfifo(pipe, 0o600) == 0)
            signal(SIGPIPE, SIG_IGN)
            let child = try Child(EndToEnd.binary, ["run", pipe, "--no-watch"])
            // Opens once the worker has opened it.
            var file = open(pipe, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
            let deadline = Date(timeIntervalSinceNow: 20)
            while file < 0, child.isRunning, Date() < deadline {
                usleep(1_000)
                file = open(pipe, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
            }
            try #require(file >= 0, "the worker does not open its pipeline: \(child.errors)")
            let writer = FileHandle(fileDescriptor: file, closeOnDealloc: true)
            child.signal(SIGHUP)
            try writer.write(contentsOf: Data(SecretWatch.hiding(in: Rooms.small(work.path("out"))).utf8))
            try writer.close()
            #expect(child.line(from: 0, timeout: 15) { $0.contains("room.ready") } != nil, "\(child.errors)")
            child.signal(SIGINT)
            #expect(try child.wait(timeout: 20) == 0, "\(child.errors)")
        }

        @Test("with --no-watch, SIGHUP reloads the keys and not the pipeline file")
        func unwatched() throws {
            let work = try WorkDirectory()
            func write(_ version: Int) throws -> String {
                let text = Rooms.small(work.path("out"), members: #""ext": { "version": \#(version) },"#)
                return try work.write(SecretWatch.hiding(in: text), to: "room.json")
            }
            let room = try RunningRoom(write(1), ["--no-watch"])
            _ = try write(2)
            room.child.signal(SIGHUP)
            // The keys are read after the pipeline.
            try room.event("ingest.keysRenewed")
            #expect(room.events("room.changed").isEmpty)
            #expect(try room.end() == 0)
        }
    }
}
