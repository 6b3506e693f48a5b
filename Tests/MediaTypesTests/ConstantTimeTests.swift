import MediaTypes
import Testing

@Suite("Comparison in constant time")
struct ConstantTimeTests {
    @Test("only values with the same bytes and length are equal")
    func equal() {
        let known = Array("s3cret".utf8)
        #expect(ConstantTime.isEqual(known, known) && ConstantTime.isEqual([], []))
        for count in known.indices { #expect(!ConstantTime.isEqual(known, Array(known.prefix(count)))) }
        for other in [known + known, known + [0], known.reversed(), [UInt8](repeating: 0, count: 6)] {
            #expect(!ConstantTime.isEqual(known, other) && !ConstantTime.isEqual(other, known))
        }
        // A missing byte counts as zero, and as missing.
        #expect(!ConstantTime.isEqual([0, 0], [0]) && !ConstantTime.isEqual([0], []) && !ConstantTime.isEqual([], [0]))
    }

    @Test("any one different bit is noticed")
    func bits() {
        let known = (0..<32).map { UInt8(truncatingIfNeeded: $0 &* 37) }
        for bit in 0..<256 {
            var other = known
            other[bit / 8] ^= 1 << (bit % 8)
            #expect(!ConstantTime.isEqual(known, other))
        }
    }
}
