import Foundation
import Glibc
import TestSupport
import Testing

extension Unhurried.Records {
    /// Commands without a room, and those of the README, are run by ``Unhurried/Frames/ExampleTests``.
    @Suite("Commands of the guides, run against a live room")
    struct GuideTests {
        private static let keys = ["a_7fd1", "b_19c4"]

        /// A room with the keys, names and ids of the guides.
        private static func pipeline(_ directory: String, title: String, http: String = "") -> String {
            let renditions = Rooms.small.replacingOccurrences(of: "180p", with: "720p")
            let pk = #""layout": "sideBySide", "uids": ["1001", "2002"] }"#
            let decorated =
                #""layout": "sideBySide", "uids": ["1001", "2002"], "#
                + #""texts": [{ "textId": "banner", "text": "Round one", "x": 8, "y": 8, "size": 16 }], "#
                + #""scoreBars": [{ "scoreId": "pk", "x": 0, "y": 150, "width": 320, "height": 16 }] }"#
            let cdn =
                #"{ "type": "rtmp", "outputId": "cdn", "url": "rtmp://127.0.0.1:9/live/key-of-nobody", "#
                + #""rendition": "720p" }"#
            let record = #"{ "type": "record", "path": "\#(directory)-recording" }"#
            let text = Rooms.live(
                directory, renditions: renditions, canvas: (320, 180),
                members: #""pk": { "scene": "pk", "start": "manual", "countdownMs": 0, "durationMs": 0 },"#
            ).replacingOccurrences(of: #""roomId": "e2e""#, with: #""roomId": "e2e", "title": "\#(title)""#)
                .replacingOccurrences(of: #""streamKey": "a""#, with: #""streamKey": "\#(Self.keys[0])""#)
                .replacingOccurrences(of: #""streamKey": "b""#, with: #""streamKey": "\#(Self.keys[1])""#)
                .replacingOccurrences(of: pk, with: decorated)
                .replacingOccurrences(
                    of: #""http": { "listen": "127.0.0.1:0" } }]"#,
                    with: #""http": { "listen": "127.0.0.1:0"\#(http) } }, \#(cdn), \#(record)]"#)
            return SecretWatch.hiding(in: text)
        }

        /// Every guide line that sends a request to a room, once, without its comment.
        private static func lines() throws -> [String] {
            var lines: [String] = []
            for page in Unhurried.Frames.ExampleTests.pages where !page.hasSuffix("README.md") {
                for block in Readme.blocks("sh", try Files.text("\(EndToEnd.root)/\(page)")) {
                    for line in block.replacingOccurrences(of: "\\\n", with: " ").split(separator: "\n") {
                        let verbs = ["ctl", "publish", "sign-url", "lint-hls", "healthcheck"]
                        guard verbs.contains(where: { line.hasPrefix("tandem \($0) ") }) else { continue }
                        var command = line.components(separatedBy: " #")[0]
                        // The default address.
                        if command.hasPrefix("tandem ctl "), !command.contains(" -a ") {
                            command += " -a http://127.0.0.1:8081"
                        }
                        if !lines.contains(command) { lines.append(command) }
                    }
                }
            }
            return lines
        }

        /// On a terminal, `ctl` prints tables, with `--json` JSON; the live view is redrawn in place.
        private static func terminal(_ control: String) throws {
            guard let python = TestTool.find("python3") else { return }
            let start = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)"
            func run(_ words: [String]) throws -> String {
                let arguments = ["-c", start, EndToEnd.binary, "ctl"] + words + ["-a", control]
                // swift test sets NO_COLOR for its own output.
                let environment = ["TERM": "xterm", "COLUMNS": "100", "NO_COLOR": ""]
                return try Command.run(python, arguments, environment: environment, timeout: 20).output
            }
            let state = try run(["state"])
            #expect(state.contains("SOURCE") && state.contains("1001") && state.contains("\u{1b}[32mlive"), "\(state)")
            #expect(try run(["state", "--json"]).hasPrefix("{\"roomId\""))
            #expect(try run(["events"]).contains("source 1001"))
        }

        @Test(
            "every ctl, healthcheck, lint-hls and sign-url command of the guides succeeds for a live room, to its end or drain"
        )
        func live() throws {
            let bash = try TestTool.require("bash")
            _ = try Media.require()
            let work = try WorkDirectory()
            var lines = try Self.lines()
            #expect(lines.count >= 28, "\(lines)")
            let room = try RunningRoom(Self.pipeline(work.path("out"), title: "one"))
            let viewer = try #require(room.viewer)
            let file = try work.write(Self.pipeline(work.path("out"), title: "applied"), to: "applied.json")
            let signing = try work.write(
                Self.pipeline(work.path("out"), title: "signed", http: #", "signedUrls": { "secretEnv": "SIGNING" }"#),
                to: "signing.json")
            /// A guide line with this room's addresses and this build's program.
            func here(_ line: String) -> String {
                var text = line.replacing("tandem ", with: "\(EndToEnd.binary) ", maxReplacements: 1)
                for key in Self.keys {
                    text = text.replacingOccurrences(of: "rtmp://127.0.0.1:1935/live/\(key)", with: room.url(key))
                }
                return text.replacingOccurrences(of: "http://127.0.0.1:8081", with: room.control)
                    .replacingOccurrences(of: "http://127.0.0.1:8080", with: viewer)
                    .replacingOccurrences(of: "pipelines/pk-landscape.json", with: file)
                    .replacingOccurrences(of: "room.json", with: line.contains("sign-url") ? signing : file)
                    .replacingOccurrences(of: "--duration 60", with: "--duration 5")
            }
            /// Removes and returns the lines that start with these words.
            func take(_ words: String) -> [String] {
                let taken = lines.filter { $0.hasPrefix("tandem \(words)") }
                lines.removeAll { taken.contains($0) }
                return taken
            }
            @discardableResult
            func enter(_ line: String, _ code: Int32 = 0) throws -> String {
                let result = try Command.run(
                    bash, ["-c", here(line)], environment: ["SIGNING": "secret-of-this-test"], timeout: 30)
                #expect(result.code == code && !result.output.isEmpty, "\(line): \(result.output)\(result.errors)")
                return result.output
            }
            // They have no end time: they publish until the room closes them.
            let commands = take("publish ")
            let published = Self.keys.compactMap { key in commands.first { $0.contains(key) } }
                .map { here($0).replacingOccurrences(of: "--duration 5", with: "") }
            #expect(published.count == 2)
            let publishers = try published.map { try Publisher(bash, ["-c", "exec \($0)"]) }
            try room.event("source.live", uid: "1001", timeout: 20)
            try room.event("source.live", uid: "2002", timeout: 20)
            try room.segments(2)
            // Outputs of several types, and a PK: the state matches its description.
            let check = SchemaCheck(try HTTPClient.request("GET", room.control, "/openapi.json").json())
            let schema = try #require(check.schema("GET", "/v1/room", status: 200))
            let faults = check.faults(try room.state(), schema)
            #expect(faults.isEmpty, "\(faults)")

            for line in take("healthcheck ") { #expect(try enter(line).contains("pass")) }
            for line in take("lint-hls http") { #expect(try enter(line).contains("no findings")) }
            for line in take("lint-hls ") { try enter(line) }
            for line in take("sign-url ") { #expect(try enter(line).hasPrefix("\(viewer)/index.m3u8?exp=")) }
            let phases = take("ctl pk ")
            #expect(phases.count == 4)
            for line in phases { try enter(line) }
            for line in lines where line.contains(" --follow") {
                let follower = try Publisher(bash, ["-c", "exec \(here(line))"])
                #expect(follower.child.line(from: 0, timeout: 10) { $0.hasPrefix("{") } != nil, "\(line)")
                follower.stop()
            }
            lines.removeAll { $0.contains(" --follow") }
            for line in take("ctl watch") {
                let follower = try Publisher(bash, ["-c", "exec \(here(line))"])
                #expect(
                    follower.child.line(from: 0, timeout: 10) { $0.contains("  frame ") && $0.contains("1001 live") }
                        != nil)
                follower.stop()
            }
            try Self.terminal(room.control)
            let (kicks, ends, drains) = (take("ctl kick "), take("ctl end "), take("ctl drain "))
            #expect(kicks.count >= 2 && ends.count == 1 && drains.count == 1)
            for line in lines { try enter(line) }
            let title = try room.state()["title"] as? String
            #expect(title == "applied" || title == "The final")
            // The worker has carried out the request, not only accepted it.
            try room.event("output.restarted")
            try room.event("output.started")
            let text = try HTTPClient.request("GET", room.control, "/v1/logs?tail=1000").json()
            #expect(text["level"] as? String == "debug" && (text["lines"] as? [Any])?.isEmpty == false)
            for line in kicks { try enter(line) }
            try room.event("source.kicked", uid: "2002")
            for publisher in publishers { publisher.stop(SIGKILL) }
            for line in ends { try enter(line) }
            #expect(try room.over(timeout: 30) == 0, "\(room.child.errors.suffix(800))")

            let next = try RunningRoom(Self.pipeline(work.path("next"), title: "next"))
            for line in drains {
                let line = line.replacingOccurrences(of: "http://127.0.0.1:8081", with: next.control)
                try enter(line)
            }
            #expect(try next.child.wait(timeout: 30) == 143, "\(next.child.errors.suffix(800))")
        }
    }
}
