/// Hexadecimal encoding and decoding, two digits per byte.
///
/// Spec: RFC 4648 §8, in lower case.
package enum Hexadecimal {
    private static let digits = Array("0123456789abcdef".utf8)

    /// Returns the hexadecimal digits as ASCII bytes.
    package static func encode(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            text.append(self.digits[Int(byte >> 4)])
            text.append(self.digits[Int(byte & 15)])
        }
        return text
    }

    package static func text(_ bytes: [UInt8]) -> String { String(decoding: self.encode(bytes), as: UTF8.self) }

    /// Decodes hexadecimal digits in either case; an empty text gives no bytes.
    ///
    /// - Returns: `nil` for other characters or an odd number of digits.
    package static func decode(_ text: String) -> [UInt8]? {
        let digits = text.utf8.compactMap(\.hexadecimalValue)
        guard digits.count == text.utf8.count, digits.count.isMultiple(of: 2) else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
