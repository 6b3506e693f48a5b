import MediaKernels
import TestSupport
import Testing

@Suite("Annex B byte stream: ISO/IEC 14496-10 Annex B")
struct AnnexBTests {
    /// The plain version of the start code search: checks every offset.
    static func plainStartCode(_ bytes: [UInt8], from start: Int) -> Int {
        var offset = start
        while offset + 2 < bytes.count {
            if bytes[offset] == 0 && bytes[offset + 1] == 0 && bytes[offset + 2] == 1 { return offset }
            offset += 1
        }
        return bytes.count
    }

    /// The plain search for NAL units: splits at start codes, drops trailing zeros and empty units.
    static func plainUnits(_ bytes: [UInt8]) -> [[UInt8]] {
        var units: [[UInt8]] = []
        var code = self.plainStartCode(bytes, from: 0)
        while code < bytes.count {
            let next = self.plainStartCode(bytes, from: code + 3)
            var unit = Array(bytes[(code + 3)..<next])
            while unit.last == 0 { unit.removeLast() }
            if !unit.isEmpty { units.append(unit) }
            code = next
        }
        return units
    }

    static func prefixed(_ units: [[UInt8]], lengthSize: Int = 4) -> [UInt8] {
        units.flatMap { unit in
            (0..<lengthSize).map { UInt8(truncatingIfNeeded: unit.count >> (8 * (lengthSize - 1 - $0))) } + unit
        }
    }

    @Test("the Annex B start code search agrees with a check of every offset", arguments: 0..<200)
    func startCodeAgreesWithPlain(seed: Int) {
        var random = TestRandom(seed: UInt64(seed))
        let bytes = random.sparseBytes(Int.random(in: 0...90, using: &random))
        for start in 0...bytes.count {
            let found = bytes.withUnsafeBytes { AnnexB.startCode(in: $0, from: start) }
            #expect(found == Self.plainStartCode(bytes, from: start), "from \(start) in \(bytes)")
        }
    }

    @Test("in random bytes, the Annex B kernel finds the same NAL units as a plain loop", arguments: 0..<200)
    func unitsAgreeWithPlain(seed: Int) {
        var random = TestRandom(seed: UInt64(seed) + 1000)
        let bytes = random.sparseBytes(Int.random(in: 0...300, using: &random))
        let payload = bytes.withUnsafeBytes { AnnexB.lengthPrefixed($0) }
        #expect(payload.memory.bytes == Self.prefixed(Self.plainUnits(bytes)))
    }

    @Test(
        "NAL units after start codes of three and four bytes are kept whole, except those of types to skip",
        arguments: 0..<50)
    func roundTrip(seed: Int) {
        var random = TestRandom(seed: UInt64(seed) + 2000)
        var bytes: [UInt8] = []
        var units: [[UInt8]] = []
        for type in [UInt8(9), 7, 8, 6, 5, 5] {
            let unit = random.nal(type: type, count: Int.random(in: 1...4000, using: &random))
            units.append(unit)
            bytes += Bool.random(using: &random) ? [0, 0, 0, 1] : [0, 0, 1]
            bytes += unit
        }
        let all = bytes.withUnsafeBytes { AnnexB.lengthPrefixed($0) }
        #expect(all.memory.bytes == Self.prefixed(units))
        #expect(all.types == [.aud, .sps, .pps, .sei, .idr])

        let frames = bytes.withUnsafeBytes { AnnexB.lengthPrefixed($0, skipping: [.aud, .sps, .pps, .sei]) }
        #expect(frames.memory.bytes == Self.prefixed(Array(units.suffix(2))))
        #expect(frames.types == .idr)
    }

    @Test("Annex B bytes without a start code give no NAL unit")
    func noStartCode() {
        let bytes: [UInt8] = [0, 0, 3, 1, 0, 0]
        #expect(bytes.withUnsafeBytes { AnnexB.lengthPrefixed($0).memory.count } == 0)
        #expect([UInt8]().withUnsafeBytes { AnnexB.lengthPrefixed($0).memory.count } == 0)
    }

    @Test(
        "a buffer counts as Annex B only if a start code of three or four bytes is at its very beginning",
        arguments: [
            ([0, 0, 1], true), ([0, 0, 0, 1], true), ([0, 0, 0, 0, 1], false), ([1, 0, 0, 1], false), ([0, 0], false),
            ([], false),
        ] as [([UInt8], Bool)])
    func beginsWithStartCode(bytes: [UInt8], expected: Bool) {
        #expect(bytes.withUnsafeBytes { AnnexB.beginsWithStartCode($0) } == expected)
    }
}
