/// Reads JSON tokens from bytes in memory, front to back. Every failure names line and column.
///
/// Spec: RFC 8259.
package struct JSONScanner {
    private let bytes: [UInt8]
    private var index = 0

    package init(_ bytes: [UInt8]) throws(ControlFailure) {
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw .invalidFormat("the body is not UTF-8", fix: "send JSON in UTF-8")
        }
        self.bytes = bytes
    }

    private var next: UInt8? { self.index < self.bytes.count ? self.bytes[self.index] : nil }

    private mutating func skipSpace() {
        while let byte = self.next, byte == 0x20 || (0x09...0x0a).contains(byte) || byte == 0x0d { self.index += 1 }
    }

    /// Takes the punctuation mark if it comes next.
    package mutating func take(_ mark: Unicode.Scalar) throws(ControlFailure) -> Bool {
        self.skipSpace()
        guard let byte = self.next else { throw self.failure("the body ends in the middle") }
        guard byte == UInt8(ascii: mark) else { return false }
        self.index += 1
        return true
    }

    package mutating func expect(_ mark: Unicode.Scalar) throws(ControlFailure) {
        guard try self.take(mark) else { throw self.failure("expected \"\(mark)\"") }
    }

    package mutating func expectEnd() throws(ControlFailure) {
        self.skipSpace()
        guard self.next == nil else { throw self.failure("something follows the object") }
    }

    /// - Parameter key: Named when the value is an object or an array, which nothing here takes.
    package mutating func scalar(of key: String) throws(ControlFailure) -> FlatObject.Value {
        self.skipSpace()
        switch self.next {
        case UInt8(ascii: "\""): return .string(try self.string(what: "a string"))
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            throw .invalidFormat("\"\(key)\" is an object or a list", fix: "use a plain value", status: 422)
        case nil: throw self.failure("the body ends in the middle")
        default: break
        }
        let start = self.index
        while let byte = self.next, Self.isWordByte(byte) { self.index += 1 }
        let word = String(decoding: self.bytes[start..<self.index], as: UTF8.self)
        switch word {
        case "true": return .bool(true)
        case "false": return .bool(false)
        case "null": return .null
        default:
            guard Self.isNumber(word) else {
                self.index = start
                throw self.failure("expected a value")
            }
            return Int(word).map { .integer($0) } ?? .number(word.count > 32 ? word.prefix(32) + "…" : word)
        }
    }

    mutating func string(what: String) throws(ControlFailure) -> String {
        self.skipSpace()
        guard self.next == UInt8(ascii: "\"") else { throw self.failure("expected \(what)") }
        self.index += 1
        var text: [UInt8] = []
        while let byte = self.next {
            switch byte {
            case UInt8(ascii: "\""):
                self.index += 1
                return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                self.index += 1
                text.append(contentsOf: String(try self.escape()).utf8)
            case 0..<0x20: throw self.failure("a control character must be escaped")
            default:
                text.append(byte)
                self.index += 1
            }
        }
        throw self.failure("a string has no closing quote")
    }

    private mutating func escape() throws(ControlFailure) -> Unicode.Scalar {
        guard let letter = self.next else { throw self.failure("the body ends in the middle") }
        self.index += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(letter)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{c}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try self.unicodeEscape()
        default: throw self.failure("unknown escape in a string")
        }
    }

    private mutating func unicodeEscape() throws(ControlFailure) -> Unicode.Scalar {
        let high = try self.hexUnit()
        if let scalar = Unicode.Scalar(high) { return scalar }
        guard (0xd800...0xdbff).contains(high), self.next == UInt8(ascii: "\\") else {
            throw self.failure("half of a surrogate pair")
        }
        self.index += 1
        guard self.next == UInt8(ascii: "u") else { throw self.failure("half of a surrogate pair") }
        self.index += 1
        let low = try self.hexUnit()
        guard (0xdc00...0xdfff).contains(low),
            let scalar = Unicode.Scalar(0x10000 + (high - 0xd800) << 10 + (low - 0xdc00))
        else { throw self.failure("half of a surrogate pair") }
        return scalar
    }

    private mutating func hexUnit() throws(ControlFailure) -> UInt32 {
        let digits = self.bytes[self.index..<min(self.index + 4, self.bytes.count)]
        guard digits.count == 4,
            digits.allSatisfy({ Self.isWordByte($0) && $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }),
            let unit = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw self.failure("\\u needs four hexadecimal digits") }
        self.index += 4
        return unit
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte & 0xdf) || [0x2b, 0x2d, 0x2e].contains(byte)
    }

    /// Spec: RFC 8259 §6.
    private static func isNumber(_ word: String) -> Bool {
        word.wholeMatch(of: /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/) != nil
    }

    private func failure(_ what: String) -> ControlFailure {
        let before = self.bytes[..<min(self.index, self.bytes.count)]
        let line = before.count { $0 == 0x0a } + 1
        let column = before.reversed().prefix { $0 != 0x0a }.count + 1
        return .invalidFormat(
            "\(what) at line \(line), column \(column)", fix: "send one JSON object, such as {\"scene\":\"pk\"}")
    }
}
