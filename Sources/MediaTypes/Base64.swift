/// Base64 encoding and decoding.
///
/// Spec: RFC 4648 §4.
package enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for place in 0..<4 {
                text.append(place > group.count ? 0x3D : self.alphabet[bits >> (18 - 6 * place) & 63])
            }
        }
        return String(decoding: text, as: UTF8.self)
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
