import Foundation
import Testing

extension Unhurried.Access {
    @Suite("Command line: process limits, stream keys, manifest --help, refused connections, misspelt subcommands")
    struct CommandLineTests {
        /// Runs the program in a shell that has set a limit.
        private static func limited(_ limit: String, _ arguments: String) throws -> Command.Result {
            try Command.run("/bin/bash", ["-c", "ulimit -c 0; \(limit); exec \(EndToEnd.binary) \(arguments)"])
        }

        @Test(
            "tandem run with too few open files or too little memory exits with 78 and names the limit",
            arguments: [("ulimit -n 24", "ulimit -n"), ("ulimit -v 550000", "ulimit -v")])
        func limits(limit: String, words: String) throws {
            let work = try WorkDirectory()
            let room = try work.write(
                """
                { "room": { "roomId": "r" }, "sources": [{ "uid": "1", "streamKey": "k" }],
                  "scenes": [{ "sceneId": "s", "layout": "solo", "uids": ["1"] }],
                  "ingest": { "rtmp": { "listen": "127.0.0.1:0" } },
                  "outputs": [{ "path": "\(work.path("out"))", "http": { "listen": "127.0.0.1:0" } }] }
                """, to: "room.json")
            let result = try Self.limited(limit, "run \(room)")
            #expect(result.code == 78, "\(result.errors)")
            #expect(result.errors.contains(words) && result.errors.contains("Fix: "), "\(result.errors)")
            #expect(!FileManager.default.fileExists(atPath: work.path("out")))
        }

        @Test(
            "a room with a placeholder as stream key, or with two equal keys, exits with 65",
            arguments: [("REPLACE-ME", "another", "placeholder"), ("same", "same", "the same stream key")])
        func keys(first: String, second: String, words: String) throws {
            let work = try WorkDirectory()
            let (one, other) = (try work.write("\(first)\n", to: "one"), try work.write("\(second)\n", to: "other"))
            let room = try work.write(
                """
                { "room": { "roomId": "r" },
                  "sources": [{ "uid": "1", "streamKeyFile": "\(one)" }, { "uid": "2", "streamKeyFile": "\(other)" }],
                  "scenes": [{ "sceneId": "s", "layout": "solo", "uids": ["1"] }],
                  "ingest": { "rtmp": { "listen": "127.0.0.1:0" } },
                  "outputs": [{ "path": "\(work.path("out"))", "http": { "listen": "127.0.0.1:0" } }] }
                """, to: "room.json")
            let result = try Command.tandem(["run", room])
            #expect(result.code == 65 && result.errors.contains(words), "\(result.errors)")
            #expect(result.errors.contains("Fix: ") && !result.errors.contains("REPLACE-ME"), "\(result.errors)")
        }

        @Test(
            "the commands in `tandem manifest --help` work as shown; the file for Kubernetes only names its secrets"
        )
        func manifestHelp() throws {
            let work = try WorkDirectory()
            _ = try work.write(try Files.text("\(EndToEnd.root)/pipelines/pk-landscape.json"), to: "room.json")
            // With the usual width of a terminal.
            let help = try Command.run(EndToEnd.binary, ["manifest", "--help"], environment: ["COLUMNS": "80"])
            #expect(help.code == 0, "\(help.errors)")
            let lines = help.output.replacingOccurrences(of: "\\\n", with: " ").split(separator: "\n")
                .map { $0.drop { $0 == " " } }
            let shown = lines.filter { $0.hasPrefix("tandem manifest ") }
            #expect(shown.count == 3, "\(shown)")
            for line in shown {
                let command = line.replacingOccurrences(of: "--out /etc", with: "--out etc").dropFirst("tandem".count)
                let made = try Command.run("/bin/bash", ["-c", "cd '\(work.path)' && '\(EndToEnd.binary)'\(command)"])
                #expect(made.code == 0, "\(line): \(made.errors)")
            }
            let room = try Files.text(work.path("room.yaml"))
            #expect(!room.contains("REPLACE-ME") && room.contains("kubectl create secret generic tandem-"))
            let filled = try Command.tandem(["manifest", work.path("room.json"), "--for", "k8s", "--with-secret"])
            #expect(filled.code == 0 && filled.output.contains("REPLACE-ME"), "keys() starts a room with it: exit 65")
            #expect(
                filled.errors.contains("secrets are REPLACE-ME") && filled.errors.contains("exit 65"),
                "\(filled.errors)")
            let steps = ["> room.yaml", "head -20 room.yaml", "kubectl apply -f room.yaml"].map { step in
                lines.firstIndex { $0.hasSuffix(step) }
            }
            #expect(steps.compactMap { $0 }.count == 3 && steps.compactMap { $0 } == steps.compactMap { $0 }.sorted())
            for name in ["stack/stack.yml", "etc/tandem"] {
                #expect(FileManager.default.fileExists(atPath: work.path(name)), "\(name)")
            }
        }

        /// The words of every command, such as `["ctl", "state"]`, and `[]` for the program.
        private static func commands(_ node: [String: Any], _ path: [String] = []) -> [[String]] {
            let children = (node["subcommands"] as? [[String: Any]] ?? []).filter {
                $0["commandName"] as? String != "help"
            }
            return [path] + children.flatMap { self.commands($0, path + [$0["commandName"] as? String ?? ""]) }
        }

        @Test("every help text fits in 80 columns, and its commands are not wrapped, so that they can be copied")
        func helpWidth() throws {
            let tree = try Command.tandem(["--experimental-dump-help"]).output
            let object = try JSONSerialization.jsonObject(with: Data(tree.utf8)) as? [String: Any]
            let commands = Self.commands(try #require(object?["command"] as? [String: Any]))
            #expect(commands.count > 30)
            for words in commands {
                func lines(_ columns: String) throws -> [Substring] {
                    try Command.run(EndToEnd.binary, words + ["--help"], environment: ["COLUMNS": columns]).output
                        .split(separator: "\n")
                }
                let narrow = try lines("80")
                for line in narrow { #expect(line.count <= 80, "\(words): \(line)") }
                let shown = try lines("1000").filter { line in
                    let text = line.drop { $0 == " " }
                    return line.hasPrefix("    ") && ["tandem ", "ffmpeg ", "printf "].contains { text.hasPrefix($0) }
                        || line.contains(":  ") && line.contains(" tandem ")
                }
                for line in shown { #expect(narrow.contains(line), "\(words): \(line)") }
            }
        }

        @Test("tandem ctl with too few open files exits with 78")
        func client() throws {
            let result = try Self.limited("ulimit -n 12", "ctl state -a http://127.0.0.1:1")
            #expect(result.code == 78 && result.errors.contains("RLIMIT_NOFILE"), "\(result.errors)")
        }

        @Test(
            "a tandem command whose connection is refused reports what failed, where, and what to do",
            arguments: [
                (["ctl", "state", "-a", "http://127.0.0.1:1"], 69), (["healthcheck", "http://127.0.0.1:1"], 1),
                (["ctl", "events", "--follow", "-a", "http://127.0.0.1:1"], 69),
                (["publish", "pattern:A", "rtmp://127.0.0.1:1/live/k"], 69),
                (["lint-hls", "http://127.0.0.1:1/index.m3u8", "--duration", "1"], 69),
            ] as [([String], Int32)])
        func refused(arguments: [String], code: Int32) throws {
            let result = try Command.tandem(arguments)
            let told = result.output + result.errors
            #expect(result.code == code, "\(told)")
            #expect(told.contains("127.0.0.1:1") && told.contains("connection refused"), "\(told)")
            #expect(result.errors.contains("Fix: "), "\(told)")
            for word in ["errno", "error set", "SingleConnectionFailure"] { #expect(!told.contains(word), "\(told)") }
        }

        @Test(
            "for a misspelt subcommand the error suggests the closest one, or lists all",
            arguments: [
                (["rnu", "room.json"], "tandem has no subcommand \"rnu\"", "did you mean `tandem run`?"),
                (["ctl", "stat"], "tandem ctl has no subcommand \"stat\"", "tandem ctl sta"),
                (["health", "http://a"], "\"health\"", "did you mean `tandem healthcheck`?"),
                (["frobnicate"], "\"frobnicate\"", "use one of: run, validate"),
            ])
        func misspelt(arguments: [String], what: String, fix: String) throws {
            let result = try Command.tandem(arguments)
            #expect(result.code == 64)
            #expect(result.errors.contains(what) && result.errors.contains(fix), "\(result.errors)")
        }
    }
}
