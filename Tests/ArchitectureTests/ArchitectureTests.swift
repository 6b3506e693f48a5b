import Foundation
import Testing

@Suite("The house: floors, audited memory, reasons")
struct ArchitectureTests {
    private let sources = SourceTree.swiftFiles(in: "Sources")

    @Test("there is a house to look at")
    func isNotEmpty() {
        #expect(self.sources.count > 150)
        #expect(SourceTree.floors.count > 15)
    }

    @Test("a target imports only targets below it")
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
                #expect(imported < own, "\(file.path) imports \(words[word + 1]), which stands above \(file.target)")
            }
        }
    }

    @Test("raw memory is touched in LibAV and MediaKernels alone, and lent to the system in a few named files")
    func auditedMemory() {
        // read(2), recv(2), sendto(2), write(2), readdir(3), posix_spawn(3), bind(2) and pthread_create(3) take pointers.
        let lenders: Set<String> = [
            "Sources/Stages/WholeWrite.swift", "Sources/Stages/WholeRead.swift", "Sources/Stages/StageThread.swift",
            "Sources/Stages/NotifySocket.swift",
            "Sources/Ingest/SocketReader.swift", "Sources/HTTPListener/ServedFile.swift",
            "Sources/tandem/RoomProcess.swift", "Sources/tandem/StandardStreams.swift",
            "Sources/MediaTypes/CodedPacket.swift", "Sources/Packager/DiskUse.swift",
        ]
        for file in self.sources where !["LibAV", "MediaKernels"].contains(file.target) && !lenders.contains(file.path)
        {
            for (number, line) in file.lines.enumerated()
            where !line.trimmingCharacters(in: .whitespaces).hasPrefix("//") {
                let isTouching = line.contains("Unsafe") || line.contains("Unmanaged") || line.contains("unsafe ")
                #expect(!isTouching, "\(file.path):\(number + 1) touches raw memory")
            }
        }
    }

    @Test("every unchecked promise says who keeps it, on the line below")
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

    @Test("nothing traps or postpones but where memory or threads are gone")
    func noTraps() {
        let words = ["fatalError(", "try!", "as! ", "TODO", "FIXME", "preconditionFailure("]
        for file in self.sources {
            for (number, line) in file.lines.enumerated() where words.contains(where: { line.contains($0) }) {
                let isAllowed = line.contains("out of memory") || line.contains("refused a thread")
                #expect(isAllowed, "\(file.path):\(number + 1): \(line.trimmingCharacters(in: .whitespaces))")
            }
        }
    }

    @Test("no source imports Foundation: it would quadruple a static binary")
    func noFoundation() {
        for file in self.sources {
            #expect(!file.lines.contains { $0.hasSuffix("import Foundation") }, "\(file.path) imports Foundation")
        }
    }

    @Test("files have one subject: none is longer than 600 lines, half are shorter than 150")
    func fileSizes() {
        let sizes = self.sources.map(\.lines.count).sorted()
        #expect((sizes.last ?? 0) <= 600)
        #expect(sizes[sizes.count / 2] <= 150)
    }

    @Test("no machine's path stands in the project")
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
