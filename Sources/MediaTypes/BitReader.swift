/// Reads bits, most significant first, for example those of a NAL unit's payload; a read past the end returns `nil`.
package struct BitReader {
    private let bytes: [UInt8]
    private var position = 0

    /// Creates a reader at the first bit.
    ///
    /// - Parameter bytes: Payload without emulation prevention bytes.
    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Reads the next `count` bits (0…32) as a number; `nil` if there are fewer.
    package mutating func bits(_ count: Int) -> UInt32? {
        guard count >= 0, count <= 32, self.position + count <= self.bytes.count * 8 else { return nil }
        var value: UInt32 = 0
        for _ in 0..<count {
            let bit = self.bytes[self.position >> 3] >> UInt8(7 - (self.position & 7)) & 1
            value = value << 1 | UInt32(bit)
            self.position += 1
        }
        return value
    }

    package mutating func flag() -> Bool? { self.bits(1).map { $0 == 1 } }

    /// Reads an unsigned Exp-Golomb number, `ue(v)`; `nil` if it is invalid or incomplete. Spec: ITU-T H.264 §9.1.
    package mutating func unsignedGolomb() -> UInt32? {
        var zeros = 0
        while true {
            guard let bit = self.bits(1) else { return nil }
            if bit == 1 { break }
            zeros += 1
            // 32 or more leading zeros are not a valid value.
            if zeros > 31 { return nil }
        }
        guard let rest = self.bits(zeros) else { return nil }
        return (UInt32(1) << UInt32(zeros)) - 1 + rest
    }

    /// Reads a signed Exp-Golomb number, `se(v)`; `nil` if it is invalid or incomplete. Spec: ITU-T H.264 §9.1.1.
    package mutating func signedGolomb() -> Int64? {
        guard let code = self.unsignedGolomb() else { return nil }
        let magnitude = Int64(code / 2 + code % 2)
        return code.isMultiple(of: 2) ? -magnitude : magnitude
    }
}
