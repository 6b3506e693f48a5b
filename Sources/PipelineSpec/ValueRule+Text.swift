import MediaTypes

extension ValueRule {
    /// A rule for a string that `parse` accepts.
    ///
    /// - Parameters:
    ///   - pattern: A regular expression for the schema that matches every valid text, and perhaps others; `nil`: none.
    ///   - wording: A description of valid text that follows "write" in the `fix`.
    ///   - isSecret: Whether messages must not repeat the text.
    ///   - parse: Converts the text to a value; `nil` if the text is not valid.
    static func parsed(
        _ wording: String, pattern: String?, isSecret: Bool = false, parse: @escaping @Sendable (String) -> Value?
    ) -> ValueRule where Value: CustomStringConvertible & Sendable {
        ValueRule(
            schema: [self.type("string")] + (pattern.map { [JSONMember("pattern", .string($0))] } ?? []),
            write: { .string($0.description) },
            parse: { node throws(Problem) in
                guard let text = node.givenText else { throw node.isNot("a string", fix: "write \(wording)") }
                if let value = parse(text) { return value }
                let shown = isSecret ? "the text" : SpecText.quoted(text)
                throw Problem("\(shown) is not valid", fix: "write \(wording)")
            })
    }
}

extension ValueRule where Value == String {
    /// A rule for a string for which `accepts` returns true; the other parameters are those of
    /// ``parsed(_:pattern:isSecret:parse:)``.
    static func text(
        _ wording: String, pattern: String? = nil, isSecret: Bool = false, accepts: @escaping @Sendable (String) -> Bool
    ) -> ValueRule {
        self.parsed(wording, pattern: pattern, isSecret: isSecret) { accepts($0) ? $0 : nil }
    }

    /// A rule for a name of letters, digits and the given marks, safe in paths and URLs; `.` and `..` are not allowed,
    /// because they name other directories in a path.
    static func name(_ most: Int, marks: String) -> ValueRule {
        self.text(
            "1 to \(most) letters, digits or any of \(marks)", pattern: "^[A-Za-z0-9\(marks)]{1,\(most)}$",
            accepts: { (1...most).contains($0.utf8.count) && $0.isPlain(marks: marks) }
        ).refined { text throws(Problem) in
            if text != ".", text != ".." { return text }
            throw Problem(
                "\(SpecText.quoted(text)) would name another directory in a path", fix: "add a letter or a digit")
        }
    }

    /// A rule for an id of 1 to 64 letters, digits and the marks `_`, `.` and `-`.
    static var id: ValueRule { self.name(64, marks: "_.-") }

    /// A rule for a text to display: one line of up to 256 Unicode scalars.
    static var title: ValueRule {
        self.text("up to 256 characters of text without line breaks", pattern: "^.{0,256}$") { text in
            text.unicodeScalars.count <= 256 && !text.unicodeScalars.contains { $0 == "\n" || $0 == "\r" }
        }
    }

    /// A rule for a path in the file system.
    static var path: ValueRule {
        self.text("a path of 1 to 4096 bytes", pattern: "^[^\\u0000]+$") { text in
            (1...4096).contains(text.utf8.count) && !text.utf8.contains(0)
        }
    }

    /// A rule for the name of an environment variable, up to 256 bytes. Spec: POSIX.1 §8.1.
    static var variable: ValueRule {
        // Messages do not repeat the text: by mistake it may be the secret itself.
        self.text(
            "letters, digits and _, not beginning with a digit", pattern: "^[A-Za-z_][A-Za-z0-9_]*$", isSecret: true
        ) { text in
            (1...256).contains(text.utf8.count) && text.utf8.first?.isDigit == false && text.isPlain(marks: "_")
        }
    }

    /// A rule for a stream key, which encoders send as the last part of a URL.
    static var streamKey: ValueRule {
        self.text(
            "1 to 256 printable ASCII characters without space, /, ?, # and &", pattern: "^[!-~]{1,256}$",
            isSecret: true
        ) { text in
            (1...256).contains(text.utf8.count) && text.isVisible && !text.contains { "/?#&".contains($0) }
        }
    }

    /// A rule for the URL of a webhook. The URL may contain a token, so messages do not repeat it.
    static var webhookURL: ValueRule {
        self.text(
            "http://host/path or https://host/path", pattern: "^https?://[!-~]+$", isSecret: true,
            accepts: EventSink.isURL)
    }

    /// A rule for a user's id: a string of 1 to 128 bytes without ASCII control characters, or an integer that is
    /// converted to a string.
    static var uid: ValueRule {
        let wording = "1 to 128 bytes in quotes, or an integer"
        return ValueRule(
            schema: [JSONMember("type", .array(["string", "integer"]))],
            write: { .string($0) },
            parse: { node throws(Problem) in
                if case .integer(let number) = node.content, node.flagText == nil { return String(number) }
                guard let text = node.givenText else { throw node.isNot("a user id", fix: "write \(wording)") }
                guard (1...128).contains(text.utf8.count),
                    text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7f })
                else { throw Problem("\(SpecText.quoted(text)) is not valid", fix: "write \(wording)") }
                return text
            })
    }
}

extension ValueRule where Value == Color {
    static var color: ValueRule {
        let fix = "write \"#RRGGBB\", or the integer R*65536 + G*256 + B"
        let text: JSONNode = .object([
            JSONMember("type", "string"), JSONMember("pattern", "^#[0-9A-Fa-f]{6}$"),
        ])
        let packed: JSONNode = .object(ValueRule<Int>.integer(0...0xff_ffff).schema)
        return ValueRule(
            schema: [JSONMember("anyOf", .array([text, packed]))],
            write: { .string($0.description) },
            parse: { node throws(Problem) in
                switch node.content {
                case .string(let text):
                    if let color = Color(text) { return color }
                    throw Problem("\(SpecText.quoted(text)) is not a color", fix: fix)
                case .integer(let number):
                    if let color = Color(packed: number) { return color }
                    throw Problem("\(number) is not a color", fix: fix)
                default: throw node.isNot("a color", fix: fix)
                }
            })
    }
}

extension ValueRule where Value == ListenAddress {
    /// A rule for the address of a listener.
    ///
    /// - Parameter unix: Whether a Unix socket is allowed.
    static func address(unix: Bool) -> ValueRule {
        let fix = "write host:port, port 0 for any free port\(unix ? ", or unix:/path of at most 107 bytes" : "")"
        return ValueRule(
            schema: [
                self.type("string"),
                JSONMember("pattern", .string(unix ? "^(unix:/.+|.+:[0-9]{1,5})$" : "^.+:[0-9]{1,5}$")),
            ],
            write: { .string($0.description) },
            parse: { node throws(Problem) in
                guard let text = node.string else { throw node.isNot("an address", fix: fix) }
                switch try? ListenAddress(parsing: text) {
                case .unix where !unix: break
                case let address?: return address
                case nil: break
                }
                throw Problem("\(SpecText.quoted(text)) is not an address to listen on", fix: fix)
            })
    }
}

extension JSONNode {
    /// The original text of a value that a command-line flag has set; `nil` for a value from the file.
    fileprivate var flagText: String? {
        if case .flag(_, let text) = self.position { text } else { nil }
    }

    /// The text of a string. If a flag set the value, then a number, boolean or null also counts as text, since the
    /// shell removes quotes.
    var givenText: String? {
        switch self.content {
        case .string(let text): text
        case .integer, .number, .boolean, .null: self.flagText
        case .array, .object: nil
        }
    }
}
