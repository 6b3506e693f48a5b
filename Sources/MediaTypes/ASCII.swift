extension UInt8 {
    /// Whether the byte is an ASCII digit.
    package var isDigit: Bool { (0x30...0x39).contains(self) }

    /// Whether the byte is an ASCII letter.
    package var isLetter: Bool { (0x41...0x5a).contains(self & 0xdf) }

    /// Whether the byte is a printable ASCII character other than a space.
    package var isVisible: Bool { (0x21...0x7e).contains(self) }

    /// The value of a hexadecimal digit in either case; `nil` for any other byte.
    package var hexadecimalValue: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46: self - 0x37
        case 0x61...0x66: self - 0x57
        default: nil
        }
    }
}

extension StringProtocol {
    /// Whether the text has only ASCII digits, and at least one.
    package var isDigits: Bool { !self.isEmpty && self.utf8.allSatisfy(\.isDigit) }

    /// Whether the text has only printable ASCII characters and no space; true for an empty text.
    package var isVisible: Bool { self.utf8.allSatisfy(\.isVisible) }

    /// Whether the text has only ASCII letters, digits and the given marks; true for an empty text.
    package func isPlain(marks: String) -> Bool {
        self.utf8.allSatisfy { $0.isLetter || $0.isDigit || marks.utf8.contains($0) }
    }
}
