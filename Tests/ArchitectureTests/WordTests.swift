import Foundation
import Testing

/// Checks the project's texts against `words.txt`, a list of words that they do not use.
@Suite("Plain English: words that are not used")
struct WordTests {
    private struct List {
        var words: [(pattern: String, instead: String)] = []
        var exceptions: [String] = []

        init(_ text: String) {
            for line in text.split(separator: "\n") where !line.hasPrefix("#") {
                if line.hasPrefix("except ") {
                    self.exceptions.append(String(line.dropFirst(7).prefix { $0 != " " }))
                } else if let arrow = line.range(of: " => ") {
                    self.words.append((String(line[..<arrow.lowerBound]), String(line[arrow.upperBound...])))
                }
            }
        }
    }

    private static let list = List(SourceTree.text("Tests/ArchitectureTests/words.txt"))

    /// Every text file of the project that holds prose, without the exceptions of the list.
    private static var files: [String] {
        let roots = ["Sources", "Tests", "benchmarks", "deploy", ".ci", "pipelines"]
        let single = [
            "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "NOTICE", "Makefile", "Dockerfile",
            "Package.swift",
        ]
        let kinds = ["swift", "md", "js", "css", "html", "py", "sh", "h", "c", "yml", "conf", "service", "mjs", ""]
        let found = roots.flatMap { root in
            let all = FileManager.default.enumerator(atPath: SourceTree.root.appendingPathComponent(root).path)
            return (all?.compactMap { $0 as? String } ?? []).map { "\(root)/\($0)" }
        }
        return (single + found).filter { path in
            kinds.contains((path as NSString).pathExtension)
                && !(path as NSString).pathComponents.contains { $0 == ".build" || $0 == "work" }
                && !Self.list.exceptions.contains { path.hasPrefix($0) }
        }
    }

    @Test("no source, guide, test or script matches a pattern of words.txt")
    func none() throws {
        #expect(Self.list.words.count >= 15)
        // grep needs a fiftieth of the time of Foundation's regular expressions.
        let files = Self.files
        #expect(files.count > 800)
        let grep = Process()
        grep.executableURL = URL(fileURLWithPath: "/bin/grep")
        grep.currentDirectoryURL = SourceTree.root
        grep.environment = ["LC_ALL": "C.UTF-8"]
        let pattern = Self.list.words.map { "(?:\($0.pattern))" }.joined(separator: "|")
        // A file with a NUL byte is no text.
        grep.arguments = ["-HinoIP", "-d", "skip", "-e", pattern, "--"] + files
        let output = Pipe()
        grep.standardOutput = output
        try grep.run()
        let found = output.fileHandleForReading.readDataToEndOfFile()
        grep.waitUntilExit()
        #expect(grep.terminationStatus == 1, "0: a pattern matches; 2: a pattern or a file cannot be read")
        for line in String(decoding: found, as: UTF8.self).split(separator: "\n") {
            Issue.record("\(line): on the list of Tests/ArchitectureTests/words.txt")
        }
    }

    @Test("each of five sample sentences matches a pattern of words.txt, regardless of case")
    func finds() throws {
        let samples = [
            "whoever asks", "it is told on", "Lets go of it", "/// Of a live room: RTMP outputs.", "the key picture",
        ]
        for sample in samples {
            let hit = try Self.list.words.contains {
                try NSRegularExpression(pattern: $0.pattern, options: .caseInsensitive)
                    .firstMatch(in: sample, range: NSRange(sample.startIndex..., in: sample)) != nil
            }
            #expect(hit, "\(sample)")
        }
    }
}
