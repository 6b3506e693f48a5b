/// Parses JSON text into a tree with lines and columns.
///
/// Spec: RFC 8259, strictly: no comments, no trailing commas, no lone surrogates; a byte order mark is skipped (§8.1).
/// Never traps, whatever the bytes. Limits: ``maxBytes`` of text unless the caller passes another limit, ``maxDepth``
/// of nesting, 512 characters per number.
package struct JSONParser {
    /// Default maximum size of a text in bytes.
    package static let maxBytes = 4 << 20
    /// Maximum nesting of arrays and objects. Limits the recursion here and in code that walks the tree.
    package static let maxDepth = 64

    /// Result of parsing a text.
    package struct Document: Sendable, Equatable {
        /// The parsed tree; `nil` if the text is not JSON or exceeds a limit. If a key occurs twice, the first value is
        /// kept.
        package var root: JSONNode?
        /// The duplicate keys, then the error that ended the parsing, if there was one.
        package var mistakes: [SpecDiagnostic]

        /// The parsed tree if there are no ``mistakes``, otherwise `nil`.
        package var faultless: JSONNode? { self.mistakes.isEmpty ? self.root : nil }
    }

    /// A syntax error, which ends the parsing, with its position, reason and remedy.
    struct Failure: Error {
        let what: String
        let fix: String
        let line: Int
        let column: Int
    }

    let bytes: [UInt8]
    var offset = 0
    private var line = 1
    private var column = 1
    private var path = SpecPath()
    private var mistakes: [SpecDiagnostic] = []

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Parses a text of at most `limit` bytes.
    package static func parse(_ bytes: [UInt8], limit: Int = Self.maxBytes) -> Document {
        guard bytes.count <= limit else {
            let mistake = SpecDiagnostic(
                path: "", at: .text(line: 1, column: 1), what: "the text is longer than \(limit >> 20) MiB",
                fix: "shorten the text, or check that it is the right file")
            return Document(root: nil, mistakes: [mistake])
        }
        var parser = JSONParser(bytes)
        do {
            let root = try parser.document()
            return Document(root: root, mistakes: parser.mistakes)
        } catch {
            let position = SpecPosition.text(line: error.line, column: error.column)
            let mistake = SpecDiagnostic(path: parser.path.description, at: position, what: error.what, fix: error.fix)
            return Document(root: nil, mistakes: parser.mistakes + [mistake])
        }
    }

    // MARK: Grammar

    private mutating func document() throws(Failure) -> JSONNode {
        if self.bytes.starts(with: [0xef, 0xbb, 0xbf]) { self.offset = 3 }
        self.skipSpace()
        guard self.peek() != nil else { throw self.failure("the text is empty", fix: "write one JSON object") }
        let root = try self.value(depth: 0)
        self.skipSpace()
        guard self.peek() == nil else {
            throw self.failure(
                "\(self.shown()) follows the end of the document", fix: "remove the text after the last bracket")
        }
        return root
    }

    private mutating func value(depth: Int) throws(Failure) -> JSONNode {
        let position = SpecPosition.text(line: self.line, column: self.column)
        switch self.peek() {
        case UInt8(ascii: "{"): return JSONNode(.object(try self.object(depth: depth)), at: position)
        case UInt8(ascii: "["): return JSONNode(.array(try self.array(depth: depth)), at: position)
        case UInt8(ascii: "\""): return JSONNode(.string(try self.string()), at: position)
        case UInt8(ascii: "-"), (UInt8(ascii: "0")...UInt8(ascii: "9"))?:
            return JSONNode(try self.number(), at: position)
        case UInt8(ascii: "t") where self.take("true"): return JSONNode(.boolean(true), at: position)
        case UInt8(ascii: "f") where self.take("false"): return JSONNode(.boolean(false), at: position)
        case UInt8(ascii: "n") where self.take("null"): return JSONNode(.null, at: position)
        case nil:
            throw self.failure(
                "the text ends where a value is expected", fix: "complete the file; a bracket may be missing")
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            throw self.failure(
                "expected a value, found \(self.shown())",
                fix: "remove the comma or colon before it, or add a value")
        default:
            throw self.failure("expected a JSON value, found \(self.shown())", fix: self.adviceForValue())
        }
    }

    private mutating func object(depth: Int) throws(Failure) -> [JSONMember] {
        try self.enter(depth)
        var members: [JSONMember] = []
        var seen: [String: SpecPosition] = [:]
        self.skipSpace()
        if self.skip(UInt8(ascii: "}")) { return members }
        while true {
            self.skipSpace()
            let position = SpecPosition.text(line: self.line, column: self.column)
            guard self.peek() == UInt8(ascii: "\"") else {
                throw self.failure(
                    "expected a key, found \(self.shown())", fix: self.adviceForKey(isFirst: members.isEmpty))
            }
            let key = try self.string()
            self.path.steps.append(.key(key))
            self.skipSpace()
            guard self.skip(UInt8(ascii: ":")) else {
                throw self.failure(
                    "expected a colon, found \(self.shown())", fix: "write \":\" between the key and its value")
            }
            self.skipSpace()
            let value = try self.value(depth: depth + 1)
            if let first = seen[key], case .text(let line, let column) = first {
                self.mistakes.append(
                    SpecDiagnostic(
                        path: self.path.description, at: position,
                        what: "duplicate key, first on line \(line), column \(column)", fix: "keep one of the two")
                )
            } else {
                seen[key] = position
                members.append(JSONMember(key, value, at: position))
            }
            self.path.steps.removeLast()
            self.skipSpace()
            if self.skip(UInt8(ascii: ",")) { continue }
            if self.skip(UInt8(ascii: "}")) { return members }
            throw self.failure(
                "expected a comma or }, found \(self.shown())",
                fix: "write \",\" between members, \"}\" after the last")
        }
    }

    private mutating func array(depth: Int) throws(Failure) -> [JSONNode] {
        try self.enter(depth)
        var elements: [JSONNode] = []
        self.skipSpace()
        if self.skip(UInt8(ascii: "]")) { return elements }
        while true {
            self.skipSpace()
            self.path.steps.append(.index(elements.count))
            elements.append(try self.value(depth: depth + 1))
            self.path.steps.removeLast()
            self.skipSpace()
            if self.skip(UInt8(ascii: ",")) { continue }
            if self.skip(UInt8(ascii: "]")) { return elements }
            throw self.failure(
                "expected a comma or ], found \(self.shown())",
                fix: "write \",\" between elements, \"]\" after the last")
        }
    }

    /// Skips the opening bracket and checks the depth.
    private mutating func enter(_ depth: Int) throws(Failure) {
        guard depth < Self.maxDepth else {
            throw self.failure("nested deeper than \(Self.maxDepth) levels", fix: "use fewer nested levels")
        }
        self.advance()
    }

    // MARK: Bytes

    func peek(_ ahead: Int = 0) -> UInt8? {
        let index = self.offset + ahead
        return index < self.bytes.count ? self.bytes[index] : nil
    }

    mutating func advance() {
        guard self.offset < self.bytes.count else { return }
        let byte = self.bytes[self.offset]
        self.offset += 1
        if byte == UInt8(ascii: "\n") {
            self.line += 1
            self.column = 1
        } else if byte & 0xc0 != 0x80 {  // a continuation byte belongs to the column of its lead byte
            self.column += 1
        }
    }

    mutating func skip(_ byte: UInt8) -> Bool {
        guard self.peek() == byte else { return false }
        self.advance()
        return true
    }

    private mutating func take(_ word: StaticString) -> Bool {
        let letters = Array(String(describing: word).utf8)
        guard self.bytes[self.offset...].starts(with: letters) else { return false }
        for _ in letters { self.advance() }
        return true
    }

    private mutating func skipSpace() {
        while let byte = self.peek(), byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 { self.advance() }
    }

    // MARK: Messages

    func failure(_ what: String, fix: String) -> Failure {
        Failure(what: what, fix: fix, line: self.line, column: self.column)
    }

    /// Describes the current byte for a message: the character if it is visible ASCII, otherwise its number. Never
    /// shows more, because the text may contain secrets.
    func shown() -> String {
        guard let byte = self.peek() else { return "the end of the text" }
        return byte.isVisible ? String(UnicodeScalar(byte)) : "byte \(byte)"
    }

    private func adviceForValue() -> String {
        switch self.peek() {
        case UInt8(ascii: "'"): "put strings in double quotes"
        case UInt8(ascii: "/"), UInt8(ascii: "#"): "JSON has no comments; remove it"
        case UInt8(ascii: ","): "remove the extra comma"
        case UInt8(ascii: "+"), UInt8(ascii: "."): "write a number as 1 or 0.5, without a leading \(self.shown())"
        default: "put text in double quotes; the only bare words are true, false and null"
        }
    }

    private func adviceForKey(isFirst: Bool) -> String {
        switch self.peek() {
        case UInt8(ascii: "}") where !isFirst: "remove the comma before it"
        case UInt8(ascii: "/"), UInt8(ascii: "#"): "JSON has no comments; remove it"
        case UInt8(ascii: ","): "remove the extra comma"
        case nil: "complete the file; a bracket may be missing"
        default: "put the key in double quotes"
        }
    }
}
