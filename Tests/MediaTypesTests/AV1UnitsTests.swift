import MediaKernels
import MediaTypes
import Testing

@Suite("AV1 units: AV1 Bitstream §5.3")
struct AV1UnitsTests {
    /// A temporal delimiter, a sequence header, a frame with an extension header, and a frame without a size field.
    private static let temporalUnit: [UInt8] = [
        0x12, 0, 0x0A, 3, 1, 2, 3, 0x36, 0, 2, 0x10, 9, 0x30, 0x20, 1,
    ]

    /// Type, start and length of each unit in an array.
    private static func found(in bytes: [UInt8]) -> [[Int]] {
        var units = AV1Units(bytes[...])
        var found: [[Int]] = []
        while let unit = units.next() { found.append([Int(unit.type), unit.payload.lowerBound, unit.payload.count]) }
        return found
    }

    /// Type, start and length of each unit in packet memory, in which the bytes have an offset.
    private static func foundInPlace(_ bytes: [UInt8]) -> [[Int]] {
        let memory = PacketMemory([0x12] + bytes)
        var offset = 1
        var found: [[Int]] = []
        while let unit = AV1Units.unit(at: &offset, end: memory.count, { memory.byte(at: $0) }) {
            found.append([Int(unit.type), unit.payload.lowerBound - 1, unit.payload.count])
        }
        return found
    }

    @Test("AV1 OBUs with and without a size field and an extension header are found")
    func units() {
        let expected = [[2, 2, 0], [1, 4, 3], [6, 10, 2], [6, 13, 2]]
        #expect(Self.found(in: Self.temporalUnit) == expected)
        #expect(Self.foundInPlace(Self.temporalUnit) == expected)
    }

    @Test(
        "in a truncated temporal unit the whole OBUs are found, and one without a size field up to the end; no OBU has an invalid size"
    )
    func cut() {
        let sized = [[2, 2, 0], [1, 4, 3], [6, 10, 2]]
        for length in 0..<Self.temporalUnit.count {
            let bytes = Array(Self.temporalUnit.prefix(length))
            let found = Self.found(in: bytes)
            #expect(found == Self.foundInPlace(bytes))
            // The last one has no size field; its header is at 12.
            #expect(found == sized.filter { $0[1] + $0[2] <= length } + (length > 12 ? [[6, 13, length - 13]] : []))
        }
        // A size of nine bytes, one of more than 32 bits, and one beyond the end.
        let damages: [[UInt8]] = [
            [0x32] + [UInt8](repeating: 0x80, count: 9), [0x32, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 1], [0x32, 2, 0x10],
        ]
        for damaged in damages {
            #expect(Self.found(in: damaged).isEmpty && Self.foundInPlace(damaged).isEmpty)
        }
    }
}
