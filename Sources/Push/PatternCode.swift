/// The frame counter of a ``TestPattern`` as a row of black and white blocks: a white and a black mark, sixteen bits,
/// most significant first, and a parity bit.
package enum PatternCode {
    /// Number of black and white blocks in the row.
    package static let count = 19

    /// Returns for each block of the row whether it is white in frame `index` (taken modulo 65,536).
    package static func bits(of index: Int64) -> [Bool] {
        let value = UInt16(truncatingIfNeeded: index)
        let bits = (0..<16).map { value >> (15 - $0) & 1 == 1 }
        return [true, false] + bits + [value.nonzeroBitCount & 1 == 1]
    }

    /// Returns the position and side of block `bit` in a frame of this size, in pixels.
    package static func block(_ bit: Int, width: Int, height: Int) -> (x: Int, y: Int, side: Int) {
        let side = max(4, min(width / 64, height / 24) & ~1)
        let left = (width - side * Self.count) / 2 & ~1
        return (left + bit * side, height * 78 / 100 & ~1, side)
    }

    /// Reads the counter from a frame.
    ///
    /// - Parameter luma: Returns the mean luma (0…255) around a point in the pattern's own coordinates.
    /// - Returns: The counter, or `nil` if a mark or the parity is wrong.
    package static func read(width: Int, height: Int, luma: (_ x: Int, _ y: Int) -> Int) -> UInt16? {
        var bits: [Bool] = []
        for bit in 0..<Self.count {
            let block = Self.block(bit, width: width, height: height)
            bits.append(luma(block.x + block.side / 2, block.y + block.side / 2) >= 126)
        }
        guard bits[0], !bits[1] else { return nil }
        let value = bits[2..<18].reduce(UInt16(0)) { $0 << 1 | ($1 ? 1 : 0) }
        return (value.nonzeroBitCount & 1 == 1) == bits[18] ? value : nil
    }
}
