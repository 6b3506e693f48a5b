import MediaKernels
import TestSupport
import Testing

@Suite("Length-prefixed NAL units: ISO/IEC 14496-15 §5.3.4.2")
struct LengthPrefixedNALsTests {
    /// The units as a plain loop finds them; nil if a length points outside.
    static func plainUnits(_ bytes: [UInt8], lengthSize: Int) -> [[UInt8]]? {
        var units: [[UInt8]] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            guard rest.count >= lengthSize else { return nil }
            let length = rest.prefix(lengthSize).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(lengthSize)
            guard rest.count >= length else { return nil }
            units.append(Array(rest.prefix(length)))
            rest = rest.dropFirst(length)
        }
        return units
    }

    @Test(
        "the kernel finds the same length-prefixed NAL units as a plain loop, and agrees whether the last one is whole",
        arguments: 0..<300)
    func walkAgreesWithPlain(seed: Int) {
        var random = TestRandom(seed: UInt64(seed))
        let lengthSize = Int.random(in: 1...4, using: &random)
        var bytes: [UInt8]
        if Bool.random(using: &random) {
            bytes = random.sparseBytes(Int.random(in: 0...64, using: &random))
        } else {
            let units = (0..<Int.random(in: 0...6, using: &random)).map { _ in
                random.sparseBytes(Int.random(in: 0...60, using: &random))
            }
            bytes = AnnexBTests.prefixed(units, lengthSize: lengthSize)
            if Int.random(in: 0...3, using: &random) == 0 { bytes = bytes.dropLast() }
        }
        var units: [[UInt8]] = []
        let lands = bytes.withUnsafeBytes { buffer in
            LengthPrefixedNALs.walk(buffer, lengthSize: lengthSize) { units.append(Array(buffer[$0])) }
        }
        let plain = Self.plainUnits(bytes, lengthSize: lengthSize)
        #expect(lands == (plain != nil))
        if let plain { #expect(units == plain) }
        let summary = bytes.withUnsafeBytes { LengthPrefixedNALs.summary($0, lengthSize: lengthSize) }
        #expect(summary.lands == lands)
        #expect(summary.emptyUnits == units.count(where: \.isEmpty))
        #expect(summary.units == units.count { !$0.isEmpty })
    }

    @Test(
        "with a NAL unit length size other than 1 to 4 the bytes are reported as malformed", arguments: [-1, 0, 5, 8])
    func impossibleLengthSize(size: Int) {
        let lands = [UInt8](repeating: 0, count: 8).withUnsafeBytes {
            LengthPrefixedNALs.walk($0, lengthSize: size) { _ in }
        }
        #expect(!lands)
    }
}
