/// The lines of a session description: session-level attributes, then media sections, each in their order.
///
/// Lines may end with CR LF, LF or CR. Lines of unknown types are ignored, and so are empty ones.
///
/// Spec: RFC 8866 §5.
package struct SessionDescription: Sendable, Hashable {
    /// Limits on what a client may send.
    package enum Limits {
        /// Maximum size of a description, in bytes.
        package static let bytes = 64 << 10
        /// Maximum length of a line without its end, in bytes.
        package static let line = 4 << 10
        package static let sections = 32
        /// Maximum number of attributes of one section, or of the session level.
        package static let attributes = 512
    }

    /// `a=name:value`, or `a=name` with an empty value.
    package struct Attribute: Sendable, Hashable {
        /// Name of the attribute; case-sensitive (RFC 8866 §5.13).
        package var name: String
        package var value: String
    }

    /// One `m=` line and its attributes.
    package struct Section: Sendable, Hashable {
        /// `audio`, `video`, `application` or another word.
        package var media: String
        /// Port of the section; 0: the section is disabled, or is only usable in a bundle.
        package var port: UInt16
        /// Transport protocol, such as `UDP/TLS/RTP/SAVPF`.
        package var transport: String
        /// For RTP: payload types. Never empty.
        package var formats: [String]
        package var attributes: [Attribute]
    }

    /// User name of the `o=` line; `-` if the client gives none.
    package var origin: String
    /// The `s=` line; empty if there is none.
    package var name: String
    package var attributes: [Attribute]
    package var sections: [Section]

    /// - Throws: `malformedDescription` with the number of the line; `descriptionTooLarge` beyond ``Limits``.
    package init(parsing bytes: [UInt8]) throws(WHIPError) {
        guard bytes.count <= Limits.bytes else {
            throw .tooLarge("the description has \(bytes.count) bytes; the limit is \(Limits.bytes)")
        }
        (self.origin, self.name, self.attributes, self.sections) = ("-", "", [], [])
        var lines = SDPLines(bytes)
        var isFirst = true
        while let line = try lines.next() {
            if isFirst {
                guard line.type == UInt8(ascii: "v"), line.value == "0" else {
                    throw .malformed("a session description begins with v=0", line: line.number)
                }
                isFirst = false
                continue
            }
            try self.add(line)
        }
        if isFirst { throw .malformed("the description is empty") }
    }

    private mutating func add(_ line: SDPLines.Line) throws(WHIPError) {
        switch line.type {
        case UInt8(ascii: "o"): self.origin = line.value.split(separator: " ").first.map { String($0) } ?? "-"
        case UInt8(ascii: "s"): self.name = String(line.value)
        case UInt8(ascii: "m"):
            guard self.sections.count < Limits.sections else {
                throw .tooLarge("the description has more than \(Limits.sections) media sections")
            }
            guard let section = Section(line.value) else {
                throw .malformed("m= needs media, port, transport and formats", line: line.number)
            }
            self.sections.append(section)
        case UInt8(ascii: "a"):
            let attribute = Attribute(line.value)
            guard let last = self.sections.indices.last else {
                try Self.append(attribute, to: &self.attributes)
                return
            }
            try Self.append(attribute, to: &self.sections[last].attributes)
        default: break
        }
    }

    private static func append(_ attribute: Attribute, to list: inout [Attribute]) throws(WHIPError) {
        guard list.count < Limits.attributes else {
            throw .tooLarge("a section or the session level has more than \(Limits.attributes) attributes")
        }
        list.append(attribute)
    }
}

extension SessionDescription.Attribute {
    fileprivate init(_ text: Substring) {
        guard let colon = text.firstIndex(of: ":") else {
            self.init(name: String(text), value: "")
            return
        }
        self.init(name: String(text[..<colon]), value: String(text[text.index(after: colon)...]))
    }
}

extension SessionDescription.Section {
    /// Parses `video 9 UDP/TLS/RTP/SAVPF 96 97`; the number of ports after a slash is ignored.
    init?(_ text: Substring) {
        let words = text.split(separator: " ")
        guard words.count >= 4, words[0].isVisible, words[2].isVisible,
            let number = words[1].split(separator: "/", omittingEmptySubsequences: false).first, number.isDigits,
            let port = UInt16(number)
        else { return nil }
        self.init(
            media: String(words[0]), port: port, transport: String(words[2]),
            formats: words[3...].map { String($0) }, attributes: [])
    }
}
