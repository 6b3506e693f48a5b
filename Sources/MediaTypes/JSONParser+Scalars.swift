extension JSONParser {
    /// Reads a string; the current byte is its opening quote.
    ///
    /// Spec: RFC 8259 §7.
    mutating func string() throws(Failure) -> String {
        let start = self
        self.advance()
        var text: [UInt8] = []
        while true {
            guard let byte = self.peek() else {
                throw start.failure("the string is not terminated", fix: "close it with a double quote")
            }
            switch byte {
            case UInt8(ascii: "\""):
                self.advance()
                guard let string = String(validating: text, as: UTF8.self) else {
                    throw start.failure("the string is not UTF-8", fix: "save the file as UTF-8")
                }
                return string
            case UInt8(ascii: "\\"):
                try self.escape(into: &text)
            case ..<0x20:
                throw self.failure(
                    "the string contains a control character",
                    fix: "close the string on its line, or write \\n, \\t or \\u00XX")
            default:
                text.append(byte)
                self.advance()
            }
        }
    }

    private mutating func escape(into text: inout [UInt8]) throws(Failure) {
        let start = self
        self.advance()
        let letter = self.peek()
        self.advance()
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(letter ?? 0)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0c)
        case UInt8(ascii: "n"): text.append(0x0a)
        case UInt8(ascii: "r"): text.append(0x0d)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            guard let scalar = self.escapedScalar() else {
                throw start.failure(
                    "the \\u escape is not a character", fix: "write four hexadecimal digits, and surrogates in pairs")
            }
            text += Array(String(scalar).utf8)
        default:
            throw start.failure("JSON has no such escape", fix: "write \\\\ for a backslash")
        }
    }

    /// Reads the characters after `\u`: one code unit, or a surrogate pair.
    private mutating func escapedScalar() -> UnicodeScalar? {
        guard let first = self.fourDigits() else { return nil }
        guard (0xd800...0xdbff).contains(first) else { return UnicodeScalar(first) }
        guard self.skip(UInt8(ascii: "\\")), self.skip(UInt8(ascii: "u")), let second = self.fourDigits(),
            (0xdc00...0xdfff).contains(second)
        else { return nil }
        return UnicodeScalar(0x10000 + ((first & 0x3ff) << 10) + (second & 0x3ff))
    }

    private mutating func fourDigits() -> UInt32? {
        var number: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = self.peek() else { return nil }
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt32(byte - 0x30)
            case UInt8(ascii: "a")...UInt8(ascii: "f"): number = number << 4 | UInt32(byte - 0x57)
            case UInt8(ascii: "A")...UInt8(ascii: "F"): number = number << 4 | UInt32(byte - 0x37)
            default: return nil
            }
            self.advance()
        }
        return number
    }

    /// Reads a number; the current byte is its sign or first digit.
    ///
    /// Spec: RFC 8259 §6.
    mutating func number() throws(Failure) -> JSONNode.Content {
        let start = self
        _ = self.skip(UInt8(ascii: "-"))
        let hasLeadingZero = self.peek() == UInt8(ascii: "0")
        let whole = self.digits()
        guard whole > 0, !hasLeadingZero || whole == 1 else {
            throw start.failure("this is not a JSON number", fix: "write digits after the sign, and no leading zeros")
        }
        var isWhole = true
        if self.skip(UInt8(ascii: ".")) {
            isWhole = false
            guard self.digits() > 0 else {
                throw start.failure(
                    "the number has no digits after its decimal point", fix: "write digits after the decimal point")
            }
        }
        if self.peek() == UInt8(ascii: "e") || self.peek() == UInt8(ascii: "E") {
            isWhole = false
            self.advance()
            if !self.skip(UInt8(ascii: "+")) { _ = self.skip(UInt8(ascii: "-")) }
            guard self.digits() > 0 else {
                throw start.failure("the number has no digits in its exponent", fix: "write digits after the e")
            }
        }
        guard self.offset - start.offset <= 512 else {
            throw start.failure("the number is longer than 512 characters", fix: "write a shorter number")
        }
        let text = String(decoding: self.bytes[start.offset..<self.offset], as: UTF8.self)
        if isWhole, let integer = Int64(text) { return .integer(integer) }
        guard let number = Double(text), number.isFinite else {
            throw start.failure("the number is too large", fix: "write a smaller number")
        }
        if let integer = Int64(exactly: number), integer.magnitude <= 1 << 53 { return .integer(integer) }
        return .number(number)
    }

    private mutating func digits() -> Int {
        var count = 0
        while let byte = self.peek(), (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
            self.advance()
            count += 1
        }
        return count
    }
}
