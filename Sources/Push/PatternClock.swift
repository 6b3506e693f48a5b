/// The time at which a ``TestPattern`` was drawn, as a row of black and white blocks below its ``PatternCode``: a white
/// and a black mark, 20 bits of milliseconds, most significant first, and eight check bits.
///
/// On a machine with the same clock it shows the age of the frame, including encoders and players.
package enum PatternClock {
    /// Number of blocks in the row.
    package static let count = 30
    /// Milliseconds after which the encoded time wraps to 0, about 17.5 minutes.
    package static let period: Int64 = 1 << 20

    /// Returns for each block of the row whether it is white.
    ///
    /// - Parameter ms: Milliseconds since the Unix epoch; taken modulo ``period``.
    package static func bits(of ms: Int64) -> [Bool] {
        let value = UInt32(truncatingIfNeeded: ms) & 0xf_ffff
        let row = UInt32(0b10) << 28 | value << 8 | self.check(value)
        return (0..<UInt32(Self.count)).map { row >> (UInt32(Self.count) - 1 - $0) & 1 == 1 }
    }

    /// Returns the position and side of block `bit` in a frame of this size, in pixels.
    package static func block(_ bit: Int, width: Int, height: Int) -> (x: Int, y: Int, side: Int) {
        let (_, top, side) = PatternCode.block(0, width: width, height: height)
        let left = (width - side * Self.count) / 2 & ~1
        return (left + bit * side, (top + side * 3 / 2) & ~1, side)
    }

    /// Returns the value that a row of blocks encodes, in milliseconds from 0 to ``period`` − 1; `nil` if a mark or a
    /// check bit is wrong.
    package static func value(of bits: [Bool]) -> Int64? {
        guard bits.count == Self.count, bits[0], !bits[1] else { return nil }
        let number = bits.dropFirst(2).reduce(UInt32(0)) { $0 << 1 | ($1 ? 1 : 0) }
        return number & 255 == self.check(number >> 8) ? Int64(number >> 8) : nil
    }

    /// Returns the check bits: a weighted sum of the nibbles that is not zero for zero. The weights are odd, so that
    /// every single wrong block is detected.
    private static func check(_ value: UInt32) -> UInt32 {
        var sum: UInt32 = 0x5a
        for index: UInt32 in 0..<5 { sum &+= (value >> (4 * index) & 15) &* (34 * index + 11) }
        return sum & 255
    }
}
