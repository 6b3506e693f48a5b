/// Input similar to a room's: 2 Mbit/s video in access units of a few slices, and audio.
public enum Fixture {
    /// Size of the access units below in bytes: a key frame at 2 Mbit/s.
    public static let pictureSize = 40_000

    /// Coded data: uniform random bytes, which contain zeros as rarely as entropy-coded slices do, and never a start code.
    public static func codedBytes(_ count: Int, seed: UInt64) -> [UInt8] {
        var random = SplitMix(state: seed)
        return (0..<count).map { index in
            let byte = UInt8(truncatingIfNeeded: random.next() >> 32)
            // Two consecutive zero bytes would need emulation prevention.
            return index & 1 == 0 ? byte | 1 : byte
        }
    }

    /// Four NAL units of type 5 with three- and four-byte start codes.
    public static func annexB() -> [UInt8] {
        var bytes: [UInt8] = []
        for slice in 0..<4 {
            bytes += slice == 0 ? [0, 0, 0, 1] : [0, 0, 1]
            bytes += [0x65] + self.codedBytes(self.pictureSize / 4, seed: UInt64(slice))
        }
        return bytes
    }

    /// The same units with four-byte length prefixes.
    public static func lengthPrefixed() -> [UInt8] {
        var bytes: [UInt8] = []
        for slice in 0..<4 {
            let unit = [0x65] + self.codedBytes(self.pictureSize / 4, seed: UInt64(slice))
            bytes += self.bigEndian(UInt32(unit.count)) + unit
        }
        return bytes
    }

    public static func bigEndian(_ value: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    /// Interleaved stereo noise of magnitude up to `level`.
    public static func audio(pairs: Int, level: Float, seed: UInt64) -> [Float] {
        var random = SplitMix(state: seed)
        return (0..<pairs * 2).map { _ in
            (Float(random.next() >> 40) / Float(1 << 23) - 1) * level
        }
    }
}

/// A seeded generator: splitmix64.
public struct SplitMix {
    private var state: UInt64

    public init(state: UInt64) { self.state = state }

    public mutating func next() -> UInt64 {
        self.state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = self.state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
