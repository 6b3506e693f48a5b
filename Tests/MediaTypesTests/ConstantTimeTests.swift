import MediaTypes
import Testing

@Suite("ConstantTime.isEqual: which bytes are equal (its time is not measured)")
struct ConstantTimeTests {
    @Test("ConstantTime.isEqual is true only for the same bytes and length")
    func equal() {
        let known = Array("s3cret".utf8)
        #expect(ConstantTime.isEqual(known, known) && ConstantTime.isEqual([], []))
        for count in known.indices { #expect(!ConstantTime.isEqual(known, Array(known.prefix(count)))) }
        for other in [known + known, known + [0], known.reversed(), [UInt8](repeating: 0, count: 6)] {
            #expect(!ConstantTime.isEqual(known, other) && !ConstantTime.isEqual(other, known))
        }
        // Zero bytes at the end are not equal to missing bytes.
        #expect(!ConstantTime.isEqual([0, 0], [0]) && !ConstantTime.isEqual([0], []) && !ConstantTime.isEqual([], [0]))
    }

    @Test("ConstantTime.isEqual is false for two values of 32 bytes that differ in any one bit")
    func bits() {
        let known = (0..<32).map { UInt8(truncatingIfNeeded: $0 &* 37) }
        for bit in 0..<256 {
            var other = known
            other[bit / 8] ^= 1 << (bit % 8)
            #expect(!ConstantTime.isEqual(known, other))
        }
    }
}
