import Foundation

/// The project's own files, read as text.
enum SourceTree {
    struct File {
        /// Relative to the project, such as `Sources/HLS/Part.swift`.
        let path: String
        let lines: [String]

        /// The target a source file belongs to.
        var target: String { self.path.split(separator: "/").dropFirst().first.map(String.init) ?? "" }
    }

    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Every Swift file below `folder`, sorted by path.
    static func swiftFiles(in folder: String) -> [File] {
        let base = self.root.appendingPathComponent(folder)
        let paths = FileManager.default.enumerator(atPath: base.path)?.compactMap { $0 as? String } ?? []
        return paths.filter { $0.hasSuffix(".swift") }.sorted().compactMap { path in
            guard let text = try? String(contentsOf: base.appendingPathComponent(path), encoding: .utf8) else {
                return nil
            }
            return File(path: "\(folder)/\(path)", lines: text.components(separatedBy: "\n"))
        }
    }

    /// The text of a file; empty if it cannot be read.
    static func text(_ path: String) -> String {
        (try? String(contentsOf: self.root.appendingPathComponent(path), encoding: .utf8)) ?? ""
    }

    /// The targets other than test targets, in the order of Package.swift: a target follows those that it may import.
    static var floors: [String] {
        var names: [String] = []
        var isTarget = false
        for line in self.text("Package.swift").components(separatedBy: "\n") {
            let trimmed = line.trimmingCharacters(in: .whitespaces)
            if trimmed.hasPrefix(".testTarget(") { break }
            if trimmed.hasPrefix(".target(") || trimmed.hasPrefix(".systemLibrary(")
                || trimmed.hasPrefix(".executableTarget(")
            {
                isTarget = true
            }
            guard isTarget, let start = trimmed.range(of: "name: \"") else { continue }
            names.append(String(trimmed[start.upperBound...].prefix { $0 != "\"" }))
            isTarget = false
        }
        return names
    }
}
