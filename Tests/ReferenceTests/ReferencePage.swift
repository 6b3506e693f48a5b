import Foundation
import MediaTypes

/// A page of the reference. The text between `<!-- generated: NAME -->` and `<!-- end: NAME -->` is generated from the
/// program; everything else is written by hand.
struct ReferencePage {
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private let file: URL
    private(set) var text: String

    /// - Parameter name: File name in the folder of the guides.
    init(_ name: String) throws {
        self.file = Self.root.appendingPathComponent("Sources/tandem/Documentation.docc/\(name)")
        self.text = try String(contentsOf: self.file, encoding: .utf8)
    }

    /// The lines between the markers of a region, with their line breaks; nil if the page does not have it.
    func region(_ name: String) -> String? { self.place(of: name).map { String(self.text[$0]) } }

    mutating func replace(_ name: String, with text: String) {
        if let place = self.place(of: name) { self.text.replaceSubrange(place, with: text) }
    }

    func write() throws { try Data(self.text.utf8).write(to: self.file) }

    private func place(of name: String) -> Range<String.Index>? {
        guard let start = self.text.range(of: "<!-- generated: \(name) -->\n"),
            let end = self.text.range(of: "<!-- end: \(name) -->", range: start.upperBound..<self.text.endIndex)
        else { return nil }
        return start.upperBound..<end.lowerBound
    }

    /// The code blocks of a language that follow the heading `heading`, up to the next heading of the same level.
    func blocks(_ language: String, below heading: String) -> [String] {
        let level = heading.prefix { $0 == "#" }
        guard let start = self.text.range(of: "\n\(heading)\n") else { return [] }
        let rest = self.text[start.upperBound...]
        let section = rest.range(of: "\n\(level) ").map { rest[..<$0.lowerBound] } ?? rest
        return section.components(separatedBy: "```\(language)\n").dropFirst().map {
            $0.components(separatedBy: "\n```")[0]
        }
    }
}

/// The project's own files, read as text.
enum ProjectFile {
    static func text(_ path: String) throws -> String {
        try String(contentsOf: ReferencePage.root.appendingPathComponent(path), encoding: .utf8)
    }

    static func json(_ path: String) throws -> JSONNode? { Self.json(text: try Self.text(path)) }

    static func json(text: String) -> JSONNode? { JSONParser.parse(Array(text.utf8), limit: 16 << 20).root }

    /// Every Swift file of the sources, ordered by path.
    static func sources() -> [(path: String, text: String)] {
        let base = ReferencePage.root.appendingPathComponent("Sources")
        let paths = FileManager.default.enumerator(atPath: base.path)?.compactMap { $0 as? String } ?? []
        return paths.filter { $0.hasSuffix(".swift") }.sorted().compactMap { path in
            (try? Self.text("Sources/\(path)")).map { ("Sources/\(path)", $0) }
        }
    }

    /// The source file with this name, whatever its target.
    static func source(named name: String) -> String {
        self.sources().first { $0.path.hasSuffix("/\(name)") }?.text ?? ""
    }
}
