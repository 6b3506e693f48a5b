/// Base64 encoding and decoding.
///
/// Spec: RFC 4648 §4.
package enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    package static func encode(_ bytes: [UInt8]) -> String { String(decoding: self.digits(bytes), as: UTF8.self) }

    /// Encodes bytes as ASCII text with padding.
    package static func digits(_ bytes: [UInt8]) -> [UInt8] {
        // Without slices and closures: a still has thousands of groups.
        let alphabet = self.alphabet
        var text = [UInt8](repeating: 0x3D, count: (bytes.count + 2) / 3 * 4)
        var (from, to) = (0, 0)
        while from < bytes.count {
            let rest = bytes.count - from
            let second = rest > 1 ? Int(bytes[from + 1]) : 0, third = rest > 2 ? Int(bytes[from + 2]) : 0
            let bits = Int(bytes[from]) << 16 | second << 8 | third
            text[to] = alphabet[bits >> 18 & 63]
            text[to + 1] = alphabet[bits >> 12 & 63]
            if rest > 1 { text[to + 2] = alphabet[bits >> 6 & 63] }
            if rest > 2 { text[to + 3] = alphabet[bits & 63] }
            from += 3
            to += 4
        }
        return text
    }

    /// Decodes `text`, with or without padding; `nil` if it is not base64.
    package static func decode(_ text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        let unpadded =
            digits.suffix(2).allSatisfy { $0 == 0x3D }
            ? digits.dropLast(2) : digits.dropLast(digits.last == 0x3D ? 1 : 0)
        guard unpadded.count % 4 != 1, unpadded.count == digits.count || digits.count.isMultiple(of: 4) else {
            return nil
        }
        var bytes: [UInt8] = []
        var bits = 0
        var count = 0
        for digit in unpadded {
            guard let value = self.alphabet.firstIndex(of: digit) else { return nil }
            bits = (bits << 6 | value) & 0xFFFF
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> count))
            }
        }
        return bytes
    }
}
