/// Reads the part of YAML that hand-written files of this project use: block maps and lists, block scalars, comments on lines of their
/// own, anchors. Flow collections and quoted text are kept as they are written.
///
/// Stricter than YAML, so that files stay plain: no tabs, no duplicate keys, and nested lists are indented.
struct YAMLReader {
    struct Malformed: Error, CustomStringConvertible {
        var line: Int
        var reason: String

        var description: String { "line \(self.line): \(self.reason)" }
    }

    private struct Line {
        var number: Int
        var indentation: Int
        var text: Substring
    }

    private var lines: [Line]
    private var next = 0
    /// Values by path, such as `spec.ports[0].name`.
    private var values: [String: String] = [:]

    /// The documents of a file: each has its values by path.
    static func documents(_ text: String) throws -> [[String: String]] {
        var parts: [[Line]] = [[]]
        for (index, text) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            guard text != "---" else {
                parts.append([])
                continue
            }
            guard !text.contains("\t") else { throw Malformed(line: index + 1, reason: "a tab") }
            let content = text.drop { $0 == " " }
            guard !content.isEmpty else { continue }
            parts[parts.count - 1].append(
                Line(number: index + 1, indentation: text.count - content.count, text: content))
        }
        return try parts.map { lines in
            var reader = YAMLReader(lines: lines)
            try reader.readMap(at: 0, path: "")
            if let line = reader.current { throw Malformed(line: line.number, reason: "unexpected indentation") }
            return reader.values
        }
    }

    private init(lines: [Line]) { self.lines = lines }

    /// The next line that is not a comment.
    private var current: Line? {
        mutating get {
            while self.next < self.lines.count, self.lines[self.next].text.hasPrefix("#") { self.next += 1 }
            return self.next < self.lines.count ? self.lines[self.next] : nil
        }
    }

    private mutating func readMap(at indentation: Int, path: String) throws {
        var keys: Set<Substring> = []
        while let line = self.current, line.indentation == indentation, !line.text.hasPrefix("- ") {
            guard let colon = line.text.firstIndex(of: ":"),
                case let rest = line.text[line.text.index(after: colon)...], rest.isEmpty || rest.first == " "
            else { throw Malformed(line: line.number, reason: "no key") }
            let key = line.text[..<colon]
            guard keys.insert(key).inserted else { throw Malformed(line: line.number, reason: "\(key) twice") }
            self.next += 1
            let place = path.isEmpty ? String(key) : "\(path).\(key)"
            try self.readValue(rest.drop { $0 == " " }, below: indentation, line: line.number, path: place)
        }
    }

    private mutating func readList(at indentation: Int, path: String) throws {
        var index = 0
        while let line = self.current, line.indentation == indentation, line.text.hasPrefix("- ") {
            let element = line.text.dropFirst(2)
            let place = "\(path)[\(index)]"
            if element.first != "{", element.first != "\"", element.contains(": ") || element.hasSuffix(":") {
                self.lines[self.next] = Line(number: line.number, indentation: indentation + 2, text: element)
                try self.readMap(at: indentation + 2, path: place)
            } else {
                self.next += 1
                try self.readValue(element, below: indentation, line: line.number, path: place)
            }
            index += 1
        }
    }

    private mutating func readValue(_ text: Substring, below indentation: Int, line: Int, path: String) throws {
        if text.first == "|" {
            var block: [Substring] = []
            while self.next < self.lines.count, self.lines[self.next].indentation > indentation {
                block.append(self.lines[self.next].text)
                self.next += 1
            }
            self.values[path] = block.joined(separator: "\n")
        } else if text.isEmpty || text.first == "&" {
            guard let inner = self.current, inner.indentation > indentation else {
                throw Malformed(line: line, reason: "no value")
            }
            if inner.text.hasPrefix("- ") {
                try self.readList(at: inner.indentation, path: path)
            } else {
                try self.readMap(at: inner.indentation, path: path)
            }
        } else {
            for (open, close) in [("[", "]"), ("{", "}")] as [(Character, Character)] where text.first == open {
                guard text.last == close else { throw Malformed(line: line, reason: "no \(close)") }
            }
            guard text.count(where: { $0 == "\"" }).isMultiple(of: 2) else {
                throw Malformed(line: line, reason: "an open quote")
            }
            let isQuoted = text.count >= 2 && text.first == "\"" && text.last == "\""
            self.values[path] = String(isQuoted ? text.dropFirst().dropLast() : text)
        }
    }
}
