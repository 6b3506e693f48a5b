/// A hash of bytes (a polynomial over the prime field of 2^61 - 1). The hash of a concatenation can be computed from
/// the hashes of its pieces, so parts can be compared with their segment without keeping the bytes.
struct ByteDigest: Sendable, Hashable {
    private static let prime: UInt64 = (1 << 61) - 1
    private static let base: UInt64 = 0x12D7_5A31_88C9_F4E3 % ((1 << 61) - 1)

    private(set) var hash: UInt64 = 0
    private(set) var count = 0

    init() {}

    init(_ bytes: [UInt8]) {
        var hash: UInt64 = 0
        for byte in bytes { hash = Self.reduced(Self.product(hash, Self.base) &+ UInt64(byte) &+ 1) }
        self.hash = hash
        self.count = bytes.count
    }

    /// Appends another digest: the result is the digest of both byte sequences, one after the other.
    mutating func append(_ next: ByteDigest) {
        var power: UInt64 = 1
        var factor = Self.base
        var exponent = next.count
        while exponent > 0 {
            if exponent & 1 == 1 { power = Self.product(power, factor) }
            factor = Self.product(factor, factor)
            exponent >>= 1
        }
        self.hash = Self.reduced(Self.product(self.hash, power) &+ next.hash)
        self.count &+= next.count
    }

    private static func reduced(_ value: UInt64) -> UInt64 {
        let folded = (value & self.prime) &+ (value >> 61)
        return folded >= self.prime ? folded &- self.prime : folded
    }

    private static func product(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let wide = left.multipliedFullWidth(by: right)
        return self.reduced(self.reduced(wide.low & self.prime) &+ (wide.high << 3 | wide.low >> 61))
    }
}
