/// Percent-encoding of URLs.
///
/// Spec: RFC 3986 §2.1.
package enum PercentEncoding {
    /// Encodes all bytes except unreserved characters (§2.3: letters, digits and `-._~`) and those in `kept`.
    package static func encode(_ text: String, keeping kept: Set<UInt8> = []) -> String {
        var out = ""
        for byte in text.utf8 {
            switch byte {
            case 0x2d, 0x2e, 0x5f, 0x7e: out.unicodeScalars.append(.init(byte))
            case _ where byte.isLetter || byte.isDigit || kept.contains(byte): out.unicodeScalars.append(.init(byte))
            default: out += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
            }
        }
        return out
    }

    /// Decodes percent-encoded text; with `plusIsSpace`, `+` is decoded as a space.
    ///
    /// - Returns: `nil` for invalid UTF-8, and for a `%` without two hexadecimal digits.
    package static func decode(_ text: some StringProtocol, plusIsSpace: Bool = false) -> String? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        var units = text.utf8.makeIterator()
        while let unit = units.next() {
            switch unit {
            case UInt8(ascii: "%"):
                guard let high = units.next()?.hexadecimalValue, let low = units.next()?.hexadecimalValue else {
                    return nil
                }
                bytes.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsSpace: bytes.append(UInt8(ascii: " "))
            default: bytes.append(unit)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
