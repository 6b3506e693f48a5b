import Foundation
import Testing

@Suite("Rules for sources: imports, unsafe code, traps, clocks, file sizes, paths")
struct ArchitectureTests {
    private let sources = SourceTree.swiftFiles(in: "Sources")

    @Test("the rules for sources see more than 150 source files and 15 targets")
    func isNotEmpty() {
        #expect(self.sources.count > 150)
        #expect(SourceTree.floors.count > 15)
    }

    @Test("a target imports only targets that Package.swift declares before it")
    func floors() {
        let floors = SourceTree.floors
        for file in self.sources {
            guard let own = floors.firstIndex(of: file.target) else {
                Issue.record("\(file.path) belongs to no target of Package.swift")
                continue
            }
            for line in file.lines {
                let words = line.split(separator: " ")
                guard let word = words.firstIndex(of: "import"), word <= 1, words.count == word + 2 else { continue }
                guard let imported = floors.firstIndex(of: String(words[word + 1])) else { continue }
                #expect(imported < own, "\(file.path) imports \(words[word + 1]), which is above \(file.target)")
            }
        }
    }

    @Test("only LibAV, MediaKernels, OpenSSLCrypto and twelve named files use unsafe code")
    func auditedMemory() {
        // read(2), recv(2), send(2), sendto(2), write(2), readdir(3), posix_spawn(3), bind(2) and pthread_create(3) take pointers.
        let lenders: Set<String> = [
            "Sources/Threading/FileWriting.swift", "Sources/Threading/FileReading.swift",
            "Sources/Threading/StageThread.swift",
            "Sources/Threading/NotifySocket.swift",
            "Sources/Ingest/SocketReader.swift", "Sources/PublishEdge/SocketForwarder.swift",
            "Sources/HTTPListener/ServedFile.swift",
            "Sources/tandem/RoomProcess.swift", "Sources/tandem/StandardStreams.swift",
            "Sources/MediaTypes/CodedPacket.swift", "Sources/Packager/DiskUse.swift",
            "Sources/Retention/Folder.swift",
        ]
        let audited = ["LibAV", "MediaKernels", "OpenSSLCrypto"]
        for file in self.sources where !audited.contains(file.target) && !lenders.contains(file.path) {
            for (number, line) in file.lines.enumerated()
            where !line.trimmingCharacters(in: .whitespaces).hasPrefix("//") {
                let isTouching = line.contains("Unsafe") || line.contains("Unmanaged") || line.contains("unsafe ")
                #expect(!isTouching, "\(file.path):\(number + 1) uses unsafe code")
            }
        }
    }

    @Test("every @unchecked Sendable and nonisolated(unsafe) has a reason on the next line")
    func reasons() {
        for file in self.sources {
            for (number, line) in file.lines.enumerated()
            where line.contains("@unchecked Sendable") && !line.contains("//") || line.contains("nonisolated(unsafe)") {
                let next = number + 1 < file.lines.count ? file.lines[number + 1] : ""
                #expect(
                    next.trimmingCharacters(in: .whitespaces).hasPrefix("// "),
                    "\(file.path):\(number + 1) gives no reason")
            }
        }
    }

    @Test("no source has fatalError, preconditionFailure, try!, as! or TODO, except where memory or threads run out")
    func noTraps() {
        let words = ["fatalError(", "try!", "as! ", "TODO", "FIXME", "preconditionFailure("]
        for file in self.sources {
            for (number, line) in file.lines.enumerated() where words.contains(where: { line.contains($0) }) {
                let isAllowed = line.contains("out of memory") || line.contains("refused a thread")
                #expect(isAllowed, "\(file.path):\(number + 1): \(line.trimmingCharacters(in: .whitespaces))")
            }
        }
    }

    @Test("no source imports Foundation")
    func noFoundation() {
        for file in self.sources {
            #expect(!file.lines.contains { $0.hasSuffix("import Foundation") }, "\(file.path) imports Foundation")
        }
    }

    /// Names that read a clock of the system directly.
    private static let systemClocks = [
        "SystemClock", "SystemWallClock", "SystemProcessCPUClock", ".wallClock()", ".processCPU()", "Clocks.system",
        "clocks: .system", "ContinuousClock", "SuspendingClock", "NIODeadline.now", "clock_gettime", "gettimeofday",
        "time(nil)",
    ]

    private static func readsSystemClock(_ line: String) -> Bool {
        !line.trimmingCharacters(in: .whitespaces).hasPrefix("//") && self.systemClocks.contains { line.contains($0) }
    }

    @Test("the Room modules and Program read only the clocks that are passed to them")
    func injectedClocks() {
        let files = self.sources.filter { $0.target.hasPrefix("Room") || $0.target == "Program" }
        #expect(files.count > 150)
        for file in files {
            for (number, line) in file.lines.enumerated() {
                #expect(!Self.readsSystemClock(line), "\(file.path):\(number + 1) reads a system clock")
            }
        }
    }

    @Test(
        "the check for system clocks finds six sample lines, and accepts three that use an injected clock or are comments"
    )
    func systemClocksAreFound() {
        let planted = [
            "    let machine = SystemClock()", "        let now = SystemClock.wallClock()", "let start = Clocks.system",
            "    let settings = RoomSettings(pipeline: pipeline, clocks: .system)", "let began = ContinuousClock.now",
            "        configuration.wallClock = { Int64(time(nil)) }",
        ]
        for line in planted { #expect(Self.readsSystemClock(line), "\(line)") }
        let allowed = [
            "        let now = self.clocks.wall.now()", "    /// ``SystemClock`` in the tool.",
            "        configuration.wallClock = { wall.now() / TimeMath.nanoseconds }",
        ]
        for line in allowed { #expect(!Self.readsSystemClock(line), "\(line)") }
    }

    @Test("only seven named files of the command-line tool use the system clocks")
    func clocksAreChosenByTheTool() {
        let roots: Set<String> = [
            "Sources/tandem/RunCommand.swift", "Sources/tandem/DemoCommand.swift",
            "Sources/tandem/PipelineLoading.swift", "Sources/tandem/ValidateCommand.swift",
            "Sources/tandem/SignURLCommand.swift", "Sources/tandem/SignKeyCommand.swift",
            "Sources/tandem/GCCommand.swift",
        ]
        let choosing = self.sources.filter { file in
            file.lines.contains { $0.contains("Clocks.system") || $0.contains("clocks: .system") }
        }
        #expect(Set(choosing.map(\.path)) == roots)
    }

    @Test("no source file is longer than 600 lines, and their median is at most 150 lines")
    func fileSizes() {
        let sizes = self.sources.map(\.lines.count).sorted()
        #expect((sizes.last ?? 0) <= 600)
        #expect(sizes[sizes.count / 2] <= 150)
    }

    @Test(
        "Room.swift and Room+*.swift have at most 1,500 lines; other files of the module, but one, do not use the type Room"
    )
    func roomIsSmall() {
        let module = self.sources.filter { $0.target == "Room" }
        let own = module.filter { $0.path.hasSuffix("/Room.swift") || $0.path.contains("/Room+") }
        #expect(own.count > 10)
        #expect(own.reduce(0) { $0 + $1.lines.count } <= 1_500)
        for file in module where !own.contains(where: { $0.path == file.path }) {
            // This one applies a document to every part of the room.
            if file.path.hasSuffix("/DocumentApplication.swift") { continue }
            for (number, line) in file.lines.enumerated() where !line.contains("//") && !line.hasPrefix("import ") {
                #expect(!line.contains(/\bRoom\b(?!\.State)/), "\(file.path):\(number + 1) knows Room")
            }
        }
    }

    @Test("no Swift file contains a path of a development machine")
    func noMachinePaths() {
        let home = ["/work/", "/root/", "/home/"]
        for file in self.sources + SourceTree.swiftFiles(in: "Tests")
        where !file.path.hasSuffix("ArchitectureTests.swift") {
            for (number, line) in file.lines.enumerated() {
                #expect(!home.contains { line.contains($0) }, "\(file.path):\(number + 1)")
            }
        }
    }
}
