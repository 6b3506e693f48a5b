import MediaKernels
import TestSupport
import Testing

@Suite("Skipping payload bytes of a NAL unit: ITU-T H.264 §7.4.1.1")
struct SkipEscapedTests {
    /// Offset and number of zero bytes before it, after `count` unescaped bytes; nil if there are fewer.
    private static func plainly(_ bytes: [UInt8], _ count: Int, from start: Int, to end: Int) -> [Int]? {
        var offset = start
        var zeros = 0
        var counted = 0
        while counted < count {
            guard offset < min(end, bytes.count) else { return nil }
            let isKeptOut = zeros >= 2 && bytes[offset] == 3
            if !isKeptOut { counted += 1 }
            zeros = bytes[offset] == 0 ? zeros + 1 : 0
            offset += 1
        }
        return [offset, zeros]
    }

    @Test("skipping payload bytes ends at the same offset as a plain loop over the bytes", arguments: 0..<200)
    func agrees(seed: Int) {
        var random = TestRandom(seed: UInt64(seed))
        let bytes = random.sparseBytes(Int.random(in: 0...200, using: &random))
        let memory = PacketMemory(bytes)
        for _ in 0..<20 {
            let start = Int.random(in: 0...bytes.count, using: &random)
            let end = Int.random(in: 0...bytes.count + 10, using: &random)
            let count = Int.random(in: 0...40, using: &random)
            var (offset, zeros) = (start, 0)
            let isWhole = memory.skipEscaped(count, from: &offset, to: end, zeros: &zeros)
            let expected = Self.plainly(bytes, count, from: start, to: end)
            #expect(isWhole == (expected != nil))
            if let expected { #expect([offset, zeros] == expected) }
        }
    }

    @Test("emulation prevention bytes do not count as skipped payload bytes, and ranges out of bounds are clamped")
    func edges() {
        let memory = PacketMemory([0, 0, 3, 3, 0, 0, 3])
        var (offset, zeros) = (0, 0)
        let three = memory.skipEscaped(3, from: &offset, to: 7, zeros: &zeros)
        #expect(three && offset == 4 && zeros == 0)
        let two = memory.skipEscaped(2, from: &offset, to: 7, zeros: &zeros)
        #expect(two && offset == 6 && zeros == 2)
        let more = memory.skipEscaped(1, from: &offset, to: 7, zeros: &zeros)
        #expect(!more)
        (offset, zeros) = (Int.min, 0)
        let first = memory.skipEscaped(1, from: &offset, to: Int.max, zeros: &zeros)
        #expect(first && offset == 1 && zeros == 1)
        let none = memory.skipEscaped(-1, from: &offset, to: 0, zeros: &zeros)
        #expect(none && offset == 1)
    }
}
