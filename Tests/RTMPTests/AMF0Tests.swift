import RTMP
import TestSupport
import Testing

@Suite("AMF0: Action Message Format 0, §2")
struct AMF0Tests {
    static let all: [AMF0Value] = [
        .number(-1.5), .boolean(true), .string("naïve"), .string(String(repeating: "x", count: 70_000)),
        .object([AMF0Property("a", .null), AMF0Property("", .undefined), AMF0Property("o", .object([]))]),
        .ecmaArray([AMF0Property("width", .number(1280))]), .strictArray([.number(1), .string("b"), .strictArray([])]),
        .null, .undefined, .reference(7), .date(1_700_000_000_000), .unsupported, .xml("<a/>"),
        .typedObject(name: "T", [AMF0Property("x", .boolean(false))]),
    ]

    @Test("every kind of AMF0 value is written and read back unchanged")
    func roundTrip() {
        let result = AMF0Reader.values(in: AMF0Writer.bytes(Self.all))
        #expect(result.values == Self.all)
        #expect(result.fault == nil)
    }

    @Test("from truncated AMF0 bytes, every whole value is read, and at most one more; reading does not trap")
    func truncation() {
        let values = Self.all.filter { $0.string?.utf8.count ?? 0 < 1000 }
        let bytes = AMF0Writer.bytes(values)
        var ends: [Int] = []
        for value in values { ends.append((ends.last ?? 0) + AMF0Writer.bytes([value]).count) }
        #expect(ends.last == bytes.count)
        for end in 0...bytes.count {
            let result = AMF0Reader.values(in: Array(bytes[..<end]))
            let whole = ends.count { $0 <= end }
            #expect(Array(result.values.prefix(whole)) == Array(values.prefix(whole)), "\(end) bytes")
            // An object truncated at a property boundary counts as complete.
            #expect(result.values.count <= whole + 1, "\(end) bytes")
        }
    }

    @Test("an AMF0 object without its end marker ends with the message, without a fault")
    func unterminatedObject() {
        let bytes: [UInt8] = [3, 0, 1, 0x61, 2, 0, 1, 0x62]
        for tail in [[], [0], [0, 0]] as [[UInt8]] {
            let result = AMF0Reader.values(in: bytes + tail)
            #expect(result.values == [.object([AMF0Property("a", .string("b"))])])
            #expect(result.fault == nil)
        }
    }

    @Test(
        "the element count of an AMF0 ECMA array is ignored; the array ends at its end marker",
        arguments: [0, 1, 0xFFFF_FFFF] as [UInt32])
    func ecmaCount(count: UInt32) {
        let head = [8] + RTMPChunkReaderTests.big(count)
        let result = AMF0Reader.values(in: head + [0, 1, 0x61, 5, 0, 1, 0x62, 5, 0, 0, 9])
        #expect(result.values.first?.properties?.count == 2)
    }

    @Test(
        "a malformed AMF0 value ends reading with its kind of fault; the values before it are kept",
        arguments: [
            ([2, 0xFF, 0xFF, 1, 2, 3], .truncated), ([0x0C, 0xFF, 0xFF, 0xFF, 0xFF], .truncated),
            ([0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 5], .truncated), ([0x11, 1], .amf3), ([0x04], .marker(4)),
            ([0x77], .marker(0x77)),
            ([0, 1, 2], .truncated), ([3, 0x10, 0], .nameTooLong),
        ] as [([UInt8], AMF0Reader.Fault)])
    func faults(bytes: [UInt8], fault: AMF0Reader.Fault) {
        let result = AMF0Reader.values(in: [5] + bytes)
        #expect(result.values == [.null])
        #expect(result.fault == fault)
    }

    static func repeated(_ bytes: [UInt8], _ count: Int) -> [UInt8] {
        var all: [UInt8] = []
        for _ in 0..<count { all += bytes }
        return all
    }

    @Test(
        "AMF0 objects and arrays nested more than 16 levels deep are refused",
        arguments: [(16, true), (17, false), (70_000, false)])
    func depth(levels: Int, isFine: Bool) {
        let nested = Self.repeated([3, 0, 1, 0x61], levels) + [5]
        #expect((AMF0Reader.values(in: nested).fault != .tooDeep) == isFine)
        let arrays = Self.repeated([0x0A, 0, 0, 0, 1], levels) + [5]
        #expect((AMF0Reader.values(in: arrays).fault == nil) == isFine)
    }

    @Test("an AMF0 message of more than 4,096 values, or with an object of 513 properties, is refused")
    func budgets() {
        #expect(AMF0Reader.values(in: [UInt8](repeating: 5, count: 4096)).fault == nil)
        #expect(AMF0Reader.values(in: [UInt8](repeating: 5, count: 4097)).fault == .tooManyValues)
        let array = [0x0A, 0, 0, 0x20, 0] + [UInt8](repeating: 5, count: 0x2000)
        #expect(AMF0Reader.values(in: array).fault == .tooManyValues)
        let many = [3] + Self.repeated([0, 1, 0x61, 5], 513) + [0, 0, 9]
        #expect(AMF0Reader.values(in: many).fault == .tooManyProperties)
    }

    @Test("random bytes do not trap the AMF0 reader, and give no more values than bytes", arguments: 0..<200)
    func randomBytes(seed: Int) {
        var random = TestRandom(seed: UInt64(seed))
        for _ in 0..<20 {
            let bytes = (0..<Int.random(in: 0...120, using: &random)).map { _ in
                UInt8.random(in: 0...(Bool.random(using: &random) ? 17 : 255), using: &random)
            }
            let result = AMF0Reader.values(in: bytes)
            #expect(result.values.count <= bytes.count)
        }
    }
}
