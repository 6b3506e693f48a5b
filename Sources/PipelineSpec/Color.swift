/// An opaque color in 8-bit sRGB.
package struct Color: Hashable, Sendable, CustomStringConvertible {
    package var red: UInt8
    package var green: UInt8
    package var blue: UInt8

    package init(red: UInt8, green: UInt8, blue: UInt8) {
        self.red = red
        self.green = green
        self.blue = blue
    }

    /// Parses `#RRGGBB`; `nil` for any other text.
    package init?(_ text: String) {
        let digits = text.utf8.dropFirst()
        guard text.utf8.first == 0x23, digits.count == 6, let number = Int64(Substring(digits), radix: 16),
            digits.first != 0x2b, digits.first != 0x2d
        else { return nil }
        self.init(packed: number)
    }

    /// Unpacks NERtc's integer format `R·65536 + G·256 + B`; `nil` outside 0…16,777,215.
    package init?(packed: Int64) {
        guard (0...0xff_ffff).contains(packed) else { return nil }
        self.init(
            red: UInt8(truncatingIfNeeded: packed >> 16), green: UInt8(truncatingIfNeeded: packed >> 8),
            blue: UInt8(truncatingIfNeeded: packed))
    }

    /// `#RRGGBB` with uppercase digits.
    package var description: String {
        let digits: [Character] = Array("0123456789ABCDEF")
        return [self.red, self.green, self.blue].reduce(into: "#") { text, byte in
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
    }
}
