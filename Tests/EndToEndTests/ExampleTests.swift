import Foundation
import TestSupport
import Testing

extension Unhurried.Frames {
    @Suite(
        "Examples in the repository: pipelines, schema, orchestrator, commands of README and guides, shell completions")
    struct ExampleTests {
        static let pipelines = ((try? Files.names(in: "\(EndToEnd.root)/pipelines")) ?? [])
            .filter { $0.hasSuffix(".json") && $0 != "schema.json" }

        @Test("every example pipeline is valid, and tandem schema prints the committed pipelines/schema.json")
        func valid() throws {
            #expect(Self.pipelines.count >= 5)
            let paths = Self.pipelines.map { "\(EndToEnd.root)/pipelines/\($0)" }
            let result = try Command.tandem(["validate"] + paths)
            // A machine without a Korean or Chinese font gets a warning, and the file is still valid.
            let complaints = result.errors.split(separator: "\n").filter {
                !($0.hasPrefix("warning: ") && $0.contains("font"))
            }
            #expect(result.code == 0 && complaints.isEmpty, "\(result.errors)")
            for path in paths { #expect(result.output.contains("\(path): valid")) }
            let schema = try Command.tandem(["schema"]).output
            #expect(try schema == Files.text("\(EndToEnd.root)/pipelines/schema.json"))
        }

        @Test(
            "jsonschema and fastjsonschema accept every example pipeline, and refuse broken ones, by pipelines/schema.json"
        )
        func validators() throws {
            let python = try EndToEnd.fetched("python3")
            let script = "\(EndToEnd.root)/Tests/EndToEndTests/Scripts/pipeline_schema.py"
            let paths = Self.pipelines.map { "\(EndToEnd.root)/pipelines/\($0)" }
            let result = try Command.run(python, [script, EndToEnd.root] + paths)
            // The script's exit code if a module is missing.
            if result.code == 77 { try TestTool.skip("fastjsonschema", "run .ci/tools: \(result.errors)") }
            #expect(result.code == 0, "\(result.output)\(result.errors)")
        }

        @Test("every example pipeline in pipelines/ names its schema and the version of its format")
        func versions() throws {
            for name in Self.pipelines {
                let object = try JSONSerialization.jsonObject(with: Files.bytes("\(EndToEnd.root)/pipelines/\(name)"))
                let document = try #require(object as? [String: Any])
                #expect(document["$schema"] as? String == "./schema.json", "\(name)")
                #expect(document["apiVersion"] as? String == "tandem/v1", "\(name)")
            }
        }

        /// The pipeline that ``newcomer(page:)`` runs as a first-time user does, and ``runs(name:)`` does not.
        private static let shown = "pk-landscape.json"

        @Test(
            "every example pipeline but pk-landscape.json, run for 3 s, exits with 0, and its playlists are ended and 3 s long",
            arguments: Self.pipelines.filter { $0 != Self.shown })
        func runs(name: String) throws {
            let media = try Media.require()
            let work = try WorkDirectory()
            let path = "\(EndToEnd.root)/pipelines/\(name)"
            let object = try JSONSerialization.jsonObject(with: Files.bytes(path)) as? [String: Any]
            let document = try #require(object)
            let sources = document["sources"] as? [[String: Any]] ?? []
            let isOffline = document["clock"] as? String == "offline"
            var arguments = ["--duration", "3", "--set", "outputs[0].path=\(work.path("out"))"]
            if isOffline {
                for (index, uid) in ["a", "b"].enumerated() {
                    try media.make(work.path("\(uid).mp4"), size: "1280x720", seconds: 3)
                    arguments += ["--set", "sources[\(index)].path=\(work.path("\(uid).mp4"))"]
                }
                arguments += ["--set", "outputs[1].path=\(work.path("canvas.y4m"))"]
                let result = try Command.tandem(["run", path] + arguments)
                #expect(result.code == 0, "\(result.errors)")
            } else {
                arguments += ["--set", "ingest.rtmp.listen=127.0.0.1:0", "--set", "outputs[0].http.listen=127.0.0.1:0"]
                for (index, source) in sources.enumerated() where source["record"] != nil {
                    arguments += ["--set", "sources[\(index)].record.directory=\(work.path("recordings"))"]
                }
                let room = try RunningRoom(path, arguments, environment: ["TANDEM_STREAM_KEY": "from-the-environment"])
                let publishers = try sources.map { source in
                    let expected = source["expected"] as? [String: Any] ?? [:]
                    return try Publisher.pattern(
                        source["name"] as? String ?? "TEST",
                        to: room.url(source["streamKey"] as? String ?? "from-the-environment"),
                        size: "\(expected["width"] ?? 1280)x\(expected["height"] ?? 720)")
                }
                #expect(try room.over(timeout: 30) == 0, "\(room.child.errors)")
                for publisher in publishers { publisher.stop() }
            }
            // FFmpeg reads subtitle playlists only with `-strict experimental`.
            let complaints = try media.complaints(work.path("out/index.m3u8")).split(separator: "\n")
            #expect(complaints.filter { !$0.contains("Can't support the subtitle(uri: ") }.isEmpty, "\(complaints)")
            for (name, playlist) in try Playlist.all(in: work.path("out")) {
                #expect(playlist.isEnded && playlist.mistakes.isEmpty, "\(name): \(playlist.mistakes)")
                #expect(abs(playlist.duration - 3) < 0.05, "\(name): \(playlist.duration) s")
            }
        }

        private static let built = ".build/release/"
        /// Pages that lead a first-time user to a PK. Only the README ends the room with a request; Get started uses
        /// Ctrl-C.
        private static let firstSteps = ["README.md", "Sources/tandem/Documentation.docc/GetStarted.md"]

        @Test(
            "the first commands of the README and of Get started put two publishers into a PK",
            arguments: firstSteps)
        func newcomer(page: String) throws {
            let (bash, media) = (try TestTool.require("bash"), try Media.require())
            _ = try TestTool.require("curl")
            let work = try WorkDirectory()
            let blocks = Readme.blocks("sh", try Files.text("\(EndToEnd.root)/\(page)"))
            // The program in a package and the one in the build directory.
            let lines = blocks.flatMap { $0.split(separator: "\n").map(String.init) }
                .map { $0.hasPrefix(Self.built) ? String($0.dropFirst(Self.built.count)) : $0 }
            let start = "tandem run pipelines/\(Self.shown) --set control.listen=127.0.0.1:8081"
            #expect(lines.contains { $0.hasPrefix(start) })
            let room = try RunningRoom(
                "\(EndToEnd.root)/pipelines/\(Self.shown)",
                [
                    "--set", "ingest.rtmp.listen=127.0.0.1:0", "--set", "control.listen=127.0.0.1:0", "--set",
                    "outputs[0].http.listen=127.0.0.1:0", "--set", "outputs[0].path=\(work.path("out"))",
                ])
            /// A page line with this room's addresses and this build's program.
            func here(_ line: String) -> String {
                let text = line.hasPrefix("tandem ") ? EndToEnd.binary + line.dropFirst("tandem".count) : line
                return text.replacingOccurrences(of: "rtmp://127.0.0.1:1935", with: room.rtmp)
                    .replacingOccurrences(of: "http://127.0.0.1:8081", with: room.control)
            }
            func publisher(_ name: String) throws -> Publisher {
                let line = try #require(lines.first { $0.hasPrefix(name) && $0.contains("rtmp://") }, "\(name)")
                return try Publisher(bash, ["-c", "exec \(here(line))"])
            }
            let anna = try publisher("ffmpeg ")
            try room.event("source.live", uid: "1001", timeout: 20)
            let isGStreamer =
                TestTool.find("gst-launch-1.0") != nil && lines.contains { $0.hasPrefix("gst-launch-1.0 ") }
            let ben = try publisher(isGStreamer ? "gst-launch-1.0 " : "tandem publish ")
            try room.event("source.live", uid: "2002", timeout: 20)
            let commands = lines.filter { $0.contains("tandem ctl ") }.map { line in
                line.contains(" -a ") ? here(line) : "\(here(line)) -a \(room.control)"
            }
            let requests = lines.filter { $0.hasPrefix("curl ") }.map {
                here($0).replacing("curl ", with: "curl -sSf ", maxReplacements: 1)
            }
            #expect(commands.count == 1 && requests.count == (page == "README.md" ? 5 : 0))
            for line in commands + requests.dropLast() {
                let result = try Command.run(bash, ["-c", line], timeout: 15)
                #expect(result.code == 0 && !result.output.isEmpty, "\(line): \(result.errors)")
            }
            let state = try room.state()
            #expect(state["title"] as? String == (requests.isEmpty ? "PK, side by side" : "The final"))
            #expect((state["program"] as? [String: Any])?["scene"] as? String == "pk")
            try room.segments(1)
            for publisher in [anna, ben] { publisher.stop(SIGKILL) }
            if let request = requests.last {
                let end = try Command.run(bash, ["-c", request], timeout: 15)
                #expect(end.code == 0, "\(end.errors)")
                #expect(try room.over(timeout: 30) == 0, "\(room.child.errors.suffix(800))")
            } else {
                #expect(try room.terminate(SIGINT) == 0, "\(room.child.errors.suffix(800))")
            }
            #expect(try media.complaints(work.path("out/index.m3u8")) == "")
            for (name, playlist) in try Playlist.all(in: work.path("out")) {
                #expect(playlist.isEnded && playlist.mistakes.isEmpty, "\(name): \(playlist.mistakes)")
            }
        }

        @Test(
            "a Python script of 40 lines starts three rooms, switches their scenes and ends them with the documented API"
        )
        func orchestrator() throws {
            let python = try TestTool.require("python3")
            let work = try WorkDirectory()
            let script = "\(EndToEnd.root)/Tests/EndToEndTests/Scripts/orchestrator.py"
            #expect(try Files.text(script).split(separator: "\n", omittingEmptySubsequences: false).count <= 41)
            let result = try Command.run(python, [script, EndToEnd.binary, work.path], timeout: 90)
            #expect(result.code == 0, "\(result.errors)")
            #expect(result.output.contains("room3: exit 0"), "\(result.output)")
            for room in 1...3 {
                let playlist = try Playlist(contentsOf: work.path("room\(room)/180p.m3u8"))
                #expect(playlist.isEnded && playlist.mistakes.isEmpty, "room\(room): \(playlist.mistakes)")
            }
        }

        /// The README and the guides, by their paths from the root.
        static let pages =
            ["README.md"]
            + ((try? Files.names(in: "\(EndToEnd.root)/Sources/tandem/Documentation.docc")) ?? [])
            .filter { $0.hasSuffix(".md") }.map { "Sources/tandem/Documentation.docc/\($0)" }

        @Test(
            "make targets, tandem commands and flags in README and guides exist; those that need neither a room nor other files succeed",
            arguments: pages)
        func readme(page: String) throws {
            let text = try Files.text("\(EndToEnd.root)/\(page)")
            let makefile = try Files.text("\(EndToEnd.root)/Makefile").split(separator: "\n")
            let commands = Readme.commands(text)
            #expect(!commands.isEmpty || page.hasSuffix("/Documentation.md"))
            for words in commands {
                switch words.first {
                case "make":
                    for target in words.dropFirst().prefix(while: { !$0.contains("=") && !$0.hasPrefix("#") }) {
                        #expect(makefile.contains { $0.hasPrefix("\(target):") }, "make \(target)")
                    }
                default:
                    guard let name = words.dropFirst().first, !name.hasPrefix("-") else { continue }
                    // Subcommands have flags of their own.
                    let verb = name == "ctl" ? words.dropFirst(2).prefix(1) : []
                    let help = try Command.tandem(["help", name] + verb)
                    #expect(help.code == 0, "tandem \(name)")
                    for flag in words.filter({ $0.hasPrefix("--") }) {
                        let option = String(flag.split(separator: "=").first ?? "")
                        #expect(help.output.contains(option), "tandem \(name) \(flag)")
                    }
                    try self.runs(words)
                }
            }
        }

        /// Runs a command that needs no room and terminates.
        private func runs(_ words: [String]) throws {
            let finite = ["validate", "plan", "manifest", "schema"]
            guard words.count > 1, finite.contains(words[1]) || words.suffix(1) == ["--rules"] else { return }
            guard !words.contains("--calibrate"), !words.contains("room.json"), !words.contains(">") else { return }
            let work = try WorkDirectory()
            var arguments = words.dropFirst().map {
                $0.hasPrefix("pipelines/") ? "\(EndToEnd.root)/\($0)" : $0
            }
            if let out = arguments.firstIndex(of: "--out"), out + 1 < arguments.count {
                arguments[out + 1] = work.path(arguments[out + 1])
            }
            let result = try Command.tandem(arguments)
            #expect(result.code == 0 && !result.output.isEmpty, "\(words.joined(separator: " ")): \(result.errors)")
        }

        @Test("every complete pipeline shown in README or guides is valid", arguments: pages)
        func shownPipelines(page: String) throws {
            for block in Readme.blocks("json", try Files.text("\(EndToEnd.root)/\(page)"))
            where block.contains("\"room\"") && block.contains("\"outputs\"") {
                let result = try Command.tandem(["validate", "-"], input: block)
                #expect(result.code == 0, "\(page): \(result.errors)")
                // The answers of the API reference are generated.
                guard !page.hasSuffix("/ReferenceAPI.md") else { continue }
                #expect(block.contains("\"$schema\"") && block.contains("\"apiVersion\": \"tandem/v1\""), "\(page)")
            }
        }

        @Test(
            "shell completions for bash, zsh and fish contain six commands and have valid syntax",
            arguments: ["bash", "zsh", "fish"])
        func completions(shell: String) throws {
            let result = try Command.tandem(["--generate-completion-script", shell])
            #expect(result.code == 0, "\(result.errors)")
            for command in ["run", "validate", "plan", "manifest", "ctl", "lint-hls"] {
                #expect(result.output.contains(command), "\(shell): \(command)")
            }
            let judge = try TestTool.require(shell)
            let flag = shell == "fish" ? "--no-execute" : "-n"
            let work = try WorkDirectory()
            #expect(try Command.run(judge, [flag, try work.write(result.output, to: "script")]).code == 0)
        }

        @Test("deploy/completions installs files for bash, zsh and fish, and bash completes `tandem va` to validate")
        func installedCompletions() throws {
            let bash = try TestTool.require("bash")
            let work = try WorkDirectory()
            let script = "\(EndToEnd.root)/deploy/completions"
            for (root, zsh) in [(work.path("usr/local"), "site-functions"), (work.path("usr"), "vendor-completions")] {
                let made = try Command.run(script, [EndToEnd.binary, root])
                #expect(made.code == 0, "\(made.errors)")
                for path in [
                    "bash-completion/completions/tandem", "zsh/\(zsh)/_tandem", "fish/vendor_completions.d/tandem.fish",
                ] { #expect(try Files.text("\(root)/share/\(path)").contains("validate"), "\(path)") }
            }
            let completed = try Command.run(
                bash,
                [
                    "-c",
                    """
                    source "$1"; COMP_WORDS=(tandem va); COMP_CWORD=1; COMP_LINE="tandem va"; COMP_POINT=9
                    $(complete -p tandem | grep -o -- '-F [^ ]*' | cut -c4-) tandem va tandem; echo "${COMPREPLY[@]}"
                    """, "bash", work.path("usr/share/bash-completion/completions/tandem"),
                ])
            #expect(completed.output.split(separator: " ").first?.hasPrefix("validate") == true, "\(completed)")
        }
    }
}

/// The commands in a README's shell blocks.
enum Readme {
    /// The texts of all blocks of a language.
    static func blocks(_ language: String, _ text: String) -> [String] {
        var blocks: [String] = []
        var block: [Substring]?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if let lines = block {
                block = line.hasPrefix("```") ? nil : lines + [line]
                if block == nil { blocks.append(lines.joined(separator: "\n")) }
            } else if line == "```\(language)" {
                block = []
            }
        }
        return blocks
    }

    /// The commands as words, `make …` or `tandem …`, without pipes, environment and prompts.
    static func commands(_ text: String) -> [[String]] {
        var commands: [[String]] = []
        var isShell = false
        for line in text.replacingOccurrences(of: "\\\n", with: " ").split(separator: "\n") {
            if line.hasPrefix("```") {
                isShell = !isShell && ["```sh", "```bash", "```shell", "```console"].contains { line.hasPrefix($0) }
                continue
            }
            guard isShell else { continue }
            for part in line.split(whereSeparator: { "|&;".contains($0) }) {
                let words = part.split(separator: " ").map(String.init).drop { $0 == "$" || $0.contains("=") }
                let command = Array(words.prefix { $0 != "#" })
                guard let first = command.first else { continue }
                if first == "make" || first == "tandem" || first.hasSuffix("/tandem") { commands.append(command) }
            }
        }
        return commands
    }
}
