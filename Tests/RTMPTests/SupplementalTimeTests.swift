import MediaKernels
import MediaTypes
import RTMP
import TestSupport
import Testing

/// Writes syntax elements bit by bit, and returns a NAL unit.
private struct BitWriter {
    private(set) var bits: [Bool] = []

    mutating func bits(_ count: Int, _ value: UInt64) {
        for index in 0..<count { self.bits.append(value >> UInt64(count - 1 - index) & 1 == 1) }
    }

    mutating func golomb(_ value: UInt64) {
        let length = 64 - (value + 1).leadingZeroBitCount
        self.bits(2 * length - 1, value + 1)
    }

    /// Whole bytes after a stop bit.
    var bytes: [UInt8] {
        var bits = self.bits + [true]
        while !bits.count.isMultiple(of: 8) { bits.append(false) }
        return stride(from: 0, to: bits.count, by: 8).map { start in
            bits[start..<start + 8].reduce(UInt8(0)) { $0 << 1 | ($1 ? 1 : 0) }
        }
    }

    static func unit(_ header: UInt8, _ payload: [UInt8]) -> [UInt8] {
        var unit = [header]
        var zeros = 0
        for byte in payload {
            if zeros >= 2, byte <= 3 {
                unit.append(3)
                zeros = 0
            }
            unit.append(byte)
            zeros = byte == 0 ? zeros + 1 : 0
        }
        return unit
    }
}

@Suite("Wall clock times in a stream: SEI (H.264 §D.1, §E.1; MISB ST 0604 §7) and onFI")
struct SupplementalTimeTests {
    /// 2026-09-21T14:13:20Z.
    private static let micros: UInt64 = 1_790_000_000_123_456

    /// A parameter set of 320x240 at `fps`, whose picture timing messages have time codes.
    private static func sps(hasModel: Bool, fps: UInt64 = 30) -> [UInt8] {
        var bits = BitWriter()
        bits.bits(8, 66)
        bits.bits(8, 0)
        bits.bits(8, 30)
        for value in [0, 0, 2, 1] as [UInt64] { bits.golomb(value) }
        bits.bits(1, 0)
        bits.golomb(19)
        bits.golomb(14)
        // Frames only, direct inference, no cropping; VUI with nothing but timing.
        bits.bits(4, 0b1101)
        bits.bits(4, 0)
        bits.bits(1, 1)
        bits.bits(32, 1)
        bits.bits(32, fps * 2)
        bits.bits(1, 1)
        bits.bits(1, hasModel ? 1 : 0)
        if hasModel {
            bits.golomb(0)
            bits.bits(8, 0)
            bits.golomb(9)
            bits.golomb(9)
            bits.bits(1, 0)
            for length in [23, 23, 23, 24] as [UInt64] { bits.bits(5, length) }
        }
        bits.bits(1, 0)
        if hasModel { bits.bits(1, 0) }
        bits.bits(2, 0b10)
        return BitWriter.unit(0x67, bits.bytes)
    }

    private static func timing(
        _ clock: (UInt64, UInt64, UInt64), frames: UInt64, hasModel: Bool, isFull: Bool
    ) -> [UInt8] {
        var bits = BitWriter()
        if hasModel { bits.bits(48, 7) }
        bits.bits(4, 0)
        bits.bits(1, 1)
        // Progressive, counting frames in units of two ticks, type 4.
        bits.bits(2, 0)
        bits.bits(1, 1)
        bits.bits(5, 4)
        bits.bits(3, isFull ? 0b100 : 0)
        bits.bits(8, frames)
        for (value, count) in [(clock.2, 6), (clock.1, 6), (clock.0, 5)] {
            if !isFull { bits.bits(1, 1) }
            bits.bits(count, value)
        }
        if hasModel { bits.bits(24, 0) }
        return bits.bytes
    }

    private static func message(_ type: UInt8, _ payload: [UInt8]) -> [UInt8] {
        var size: [UInt8] = []
        var rest = payload.count
        while rest >= 255 {
            size.append(255)
            rest -= 255
        }
        return [type] + size + [UInt8(rest)] + payload
    }

    private static func stamp(_ value: UInt64, _ name: [UInt8] = Array("MISPmicrosectime".utf8)) -> [UInt8] {
        let bytes = (0..<8).map { UInt8(truncatingIfNeeded: value >> UInt64(56 - 8 * $0)) }
        return name + [0x1F] + Self.marked(bytes)
    }

    /// With 0xFF after every second byte but the last.
    private static func marked(_ bytes: [UInt8]) -> [UInt8] {
        var marked: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            marked.append(byte)
            if !index.isMultiple(of: 2), index + 1 < bytes.count { marked.append(0xFF) }
        }
        return marked
    }

    /// The time that a demuxer finds in a key frame after these messages.
    private static func find(_ messages: [UInt8], sps: [UInt8] = FLVDemuxerTests.sps) -> WallClockTime? {
        var run = FLVDemuxerTests.Run()
        run.video([0x17, 0, 0, 0, 0] + FLVDemuxerTests.record(sps: sps))
        let sei = BitWriter.unit(0x06, messages + [0x80])
        run.video([0x17, 1, 0, 0, 0] + FLVDemuxerTests.avcc([0x09, 0x10], sei, [0x65, 1, 2]), at: 40)
        #expect(run.packets.count == 1)
        return run.packets.first?.wallClock
    }

    @Test("MISB timestamps in microseconds and nanoseconds since 1970 are read")
    func stamps() {
        let zoned = WallClockTime(nanoseconds: Int64(Self.micros) * 1000, hasZone: true)
        #expect(Self.find(Self.message(5, Self.stamp(Self.micros))) == zoned)
        let nanos: [UInt8] = [
            0xCF, 0x84, 0x82, 0x78, 0xEE, 0x23, 0x30, 0x6C, 0x92, 0x65, 0xE8, 0xFE, 0xF2, 0x2F, 0xB8, 0xB8,
        ]
        #expect(
            Self.find(Self.message(5, Self.stamp(Self.micros * 1000 + 7, nanos)))?.nanoseconds == zoned.nanoseconds + 7)
        // After the encoder's own message, such as x264's.
        let talk = Self.message(5, [UInt8](repeating: 0x41, count: 600))
        #expect(Self.find(talk + Self.message(5, Self.stamp(Self.micros))) == zoned)
        #expect(Self.find(talk) == nil)
    }

    @Test(
        "the member `ts` of JSON in user data SEI is read as milliseconds if it is a plausible number",
        arguments: [
            (#"{"canvas":{"w":720},"ver":"20190611","ts":1790000000123,"app_data":""}"#, 1_790_000_000_123),
            (#"{ "ts" : 1790000000123 }"#, 1_790_000_000_123), (#"{"ts":"1790000000123"}"#, nil),
            (#"{"ts":179000000}"#, nil), (#"{"tsx":1790000000123}"#, nil), (#"{"ts":99999999999999999999}"#, nil),
            (#"{"a":"ts","ts":1790000000123"#, 1_790_000_000_123), (#"["ts":1790000000123]"#, nil), ("{\"", nil),
        ] as [(String, Int64?)])
    func json(text: String, milliseconds: Int64?) {
        let found = Self.find(Self.message(5, [UInt8](repeating: 9, count: 16) + Array(text.utf8)))
        #expect(found == milliseconds.map { WallClockTime(nanoseconds: $0 * 1_000_000, hasZone: true) })
    }

    @Test("in user data SEI, `ts` is found behind emulation prevention bytes, spaces and keys without a number")
    func escaped() {
        let time = WallClockTime(nanoseconds: 1_790_000_000_123_000_000, hasZone: true)
        let zeros = [UInt8](repeating: 0, count: 16)
        for text in [
            #"{"ts":1790000000123}"#, #"{"ts""ts" : "ts":1790000000123"#, #"{"a":{"ts":17,"ts":  1790000000123 }}"#,
        ] {
            #expect(Self.find(Self.message(5, zeros + Array(text.utf8))) == time, "\(text)")
        }
        #expect(Self.find(Self.message(5, zeros + Array(#"{"ts":17900000001234}"#.utf8))) == nil)
        #expect(Self.find(Self.message(5, zeros)) == nil && Self.find(Self.message(5, zeros + [0x7B])) == nil)
    }

    @Test(
        "pic_timing time codes are read, full and partial, with and without HRD parameters", arguments: [true, false],
        [true, false])
    func timeCodes(hasModel: Bool, isFull: Bool) {
        let code = Self.timing((14, 13, 20), frames: 15, hasModel: hasModel, isFull: isFull)
        let expected: Int64 = ((14 * 60 + 13) * 60 + 20) * 1_000_000_000 + 500_000_000
        let found = Self.find(Self.message(1, code), sps: Self.sps(hasModel: hasModel))
        #expect(found == WallClockTime(nanoseconds: expected, hasZone: false))
        #expect(Self.find(Self.message(1, code)) == nil, "without parameter sets nothing can be read")
        let both = Self.message(1, code) + Self.message(5, Self.stamp(Self.micros))
        #expect(Self.find(both, sps: Self.sps(hasModel: hasModel))?.hasZone == true, "a date is better than none")
    }

    @Test(
        "pic_timing time codes with an invalid time of day are ignored",
        arguments: [(24, 0, 0, 0), (0, 60, 0, 0), (0, 0, 60, 0), (1, 1, 1, 200)])
    func noTime(hours: UInt64, minutes: UInt64, seconds: UInt64, frames: UInt64) {
        let code = Self.timing((hours, minutes, seconds), frames: frames, hasModel: false, isFull: true)
        #expect(Self.find(Self.message(1, code), sps: Self.sps(hasModel: false)) == nil)
    }

    @Test("random bytes in SEI messages and in the SPS, and truncated SEI messages, do not trap", arguments: 0..<100)
    func hostile(seed: Int) {
        var random = TestRandom(seed: UInt64(seed))
        let code = Self.timing((14, 13, 20), frames: 15, hasModel: true, isFull: seed.isMultiple(of: 2))
        var messages =
            Self.message(1, code) + Self.message(5, Self.stamp(.max)) + Self.message(5, Self.stamp(Self.micros))
        var sps = Self.sps(hasModel: true)
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            messages[Int.random(in: messages.indices, using: &random)] = .random(in: 0...255, using: &random)
            sps[Int.random(in: 4..<sps.count, using: &random)] = .random(in: 0...255, using: &random)
        }
        messages.removeLast(Int.random(in: 0..<messages.count, using: &random))
        _ = Self.find(messages, sps: sps)
        _ = Self.find([255, 255, 255, 255, 255, 255], sps: sps)
    }

    @Test(
        "the packet after onFI gets onFI's time of day plus the difference of their timestamps; later packets get none")
    func onFI() {
        var run = FLVDemuxerTests.Run()
        run.video([0x17, 0, 0, 0, 0] + FLVDemuxerTests.record())
        run.demuxer.note(WallClockTime(nanoseconds: 5_000_000_000, hasZone: false), at: 1_000)
        run.video([0x17, 1, 0, 0, 66] + FLVDemuxerTests.avcc([0x65, 1]), at: 1_034)
        run.video([0x27, 1, 0, 0, 0] + FLVDemuxerTests.avcc([0x41, 1]), at: 1_067)
        #expect(run.packets.map { $0.wallClock?.nanoseconds } == [5_100_000_000, nil])
        // With timestamp 0 in mid-stream it has no meaning.
        run.demuxer.note(WallClockTime(nanoseconds: 5_000_000_000, hasZone: false), at: 0)
        run.video([0x27, 1, 0, 0, 0] + FLVDemuxerTests.avcc([0x41, 1]), at: 90_000)
        #expect(run.packets.last?.wallClock == nil)
    }

    @Test("onFI, and `ts` in onTextData and onMetaData, give a wall clock time; onMetaData is still delivered")
    func messages() {
        func object(_ name: String, _ value: AMF0Value) -> AMF0Value { .object([AMF0Property(name, value)]) }
        let fi = AMF0Writer.bytes([
            .string("onFI"),
            .object([AMF0Property("sd", .string("21-11-2026")), AMF0Property("st", .string("14:13:20.250"))]),
        ])
        let text = AMF0Writer.bytes([.string("onTextData"), object("ts", .number(1_790_000_000_123))])
        let metadata = AMF0Writer.bytes([.string("onMetaData"), object("ts", .date(1_790_000_000_123))])
        var script = ClientScript()
        script.open()
        for (index, body) in [fi, text, metadata].enumerated() {
            script.message(18, body, timestamp: UInt32(index) * 1000)
        }
        let harness = SessionHarness()
        harness.feed(script.take())
        let date = WallClockTime(nanoseconds: 1_790_000_000_123_000_000, hasZone: true)
        #expect(
            harness.events.dropFirst() == [
                .wallClock(WallClockTime(nanoseconds: 51_200_250_000_000, hasZone: false), timestamp: 0),
                .wallClock(date, timestamp: 1000), .metadata([AMF0Property("ts", .date(1_790_000_000_123))]),
                .wallClock(date, timestamp: 2000),
            ])
    }

    @Test(
        "onFI messages with an invalid, negative or missing time are ignored, and the session stays open",
        arguments: [
            .object([AMF0Property("st", .string("24:00:00"))]), .object([AMF0Property("st", .string("1:2"))]),
            .object([AMF0Property("st", .string("::"))]), .object([AMF0Property("st", .string("00:00:00.1234567890"))]),
            .object([AMF0Property("st", .string("-1:00:00"))]), .object([AMF0Property("st", .number(5))]),
            .object([AMF0Property("ts", .number(.nan))]), .object([AMF0Property("ts", .number(1e300))]),
            .object([AMF0Property("ts", .number(-1.79e12))]), .object([AMF0Property("ts", .string("now"))]),
            .null, .string("onFI"), .strictArray([.number(1.79e12)]),
        ] as [AMF0Value])
    func noMessage(value: AMF0Value) {
        var script = ClientScript()
        script.open()
        script.message(18, AMF0Writer.bytes([.string("onFI"), value]))
        let harness = SessionHarness()
        harness.feed(script.take())
        #expect(harness.events.count == 1)
        #expect(harness.closeReason == nil)
    }

    @Test("of 300 onFI messages at once, ten are read; metadata after them still arrives")
    func flood() {
        var script = ClientScript()
        script.open()
        for index in 0..<300 {
            script.message(
                18,
                AMF0Writer.bytes([.string("onFI"), .object([AMF0Property("st", .string("10:00:0\(index % 10)"))])]))
        }
        script.message(18, AMF0Writer.bytes([.string("onMetaData"), .object([])]))
        let harness = SessionHarness()
        harness.feed(script.take())
        #expect(harness.events.count == 1 + 10 + 1)
        #expect(harness.events.last == .metadata([]))
        #expect(harness.closeReason == nil)
    }
}
