/// Reproducible randomness: SplitMix64.
package struct TestRandom: RandomNumberGenerator {
    private var state: UInt64

    /// Consecutive seeds give unrelated numbers.
    package init(seed: UInt64) { self.state = seed &* 0x9E37_79B9_7F4A_7C15 }

    package init(state: UInt64) { self.state = state }

    package mutating func next() -> UInt64 {
        self.state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = self.state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Bytes of which about three in eight are 0 and one in eight is 1, so that start codes and near misses are common.
    package mutating func sparseBytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in
            [0, 0, 0, 1, 3, 0x65, 0xFF, UInt8.random(in: 0...255, using: &self)].randomElement(using: &self) ?? 0
        }
    }

    /// A NAL unit of about `count` bytes, half of them zero: emulation prevention bytes keep start codes out, and the last
    /// byte is not zero.
    package mutating func nal(type: UInt8, count: Int) -> [UInt8] {
        var unit: [UInt8] = [0x60 | type]
        var zeros = 0
        while unit.count < count {
            let byte: UInt8 = Bool.random(using: &self) ? 0 : UInt8.random(in: 0...255, using: &self)
            // Emulation prevention, ISO/IEC 14496-10 §7.4.1.
            if byte <= 3 && zeros >= 2 {
                unit.append(3)
                zeros = 0
            }
            unit.append(byte)
            zeros = byte == 0 ? zeros + 1 : 0
        }
        if unit.last == 0 { unit.append(0x80) }
        return unit
    }
}
