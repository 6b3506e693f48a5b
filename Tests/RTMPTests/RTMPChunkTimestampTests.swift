import RTMP
import Testing

@Suite("RTMP chunk timestamps: RTMP 1.0 §5.3.1.2, §5.3.1.3")
struct RTMPChunkTimestampTests {
    typealias Wire = RTMPChunkReaderTests

    static func delta(_ value: UInt32, length: Int = 10, type: UInt8 = 8) -> [UInt8] {
        let field = min(value, 0xFF_FFFF)
        let header: [UInt8] = [0x44, UInt8(field >> 16), UInt8(field >> 8 & 0xFF), UInt8(field & 0xFF)]
        return header + [0, UInt8(length >> 8), UInt8(length & 0xFF), type]
            + (field == 0xFF_FFFF ? Wire.big(value) : [])
    }

    static func times(_ bytes: [UInt8]) -> [UInt32] {
        let whole = Received.read(bytes)
        #expect(whole.failure == nil)
        #expect(Received.read(bytes, step: 1).messages == whole.messages)
        return whole.messages.map(\.timestamp)
    }

    @Test("RTMP chunks of type 3 may repeat an extended timestamp or omit it", arguments: [true, false])
    func extendedInTypeThree(isRepeated: Bool) {
        let body = Wire.payload(300)
        let more = [UInt8(0xC4)] + (isRepeated ? Wire.big(0x0100_0000) : [])
        var bytes = Wire.full(id: [4], time: 0x0100_0000, length: 300, type: 9) + body[0..<128]
        bytes += more + body[128..<256] + more + body[256..<300]
        bytes += Wire.full(id: [4], time: 3, length: 1, type: 9) + [1]
        for step in [1, 2, 5, 128, 1000] {
            let result = Received.read(bytes, step: step)
            #expect(result.failure == nil)
            #expect(result.messages.map(\.payload) == [body, [1]])
            #expect(result.messages.map(\.timestamp) == [0x0100_0000, 3])
        }
    }

    @Test("payload that looks like the extended timestamp stays payload, however short the last chunk")
    func payloadLikeExtended() {
        // 0x01000000 is left out; the payload's own bytes repeat its first three.
        for tail in [[1], [1, 0], [1, 0, 0], [1, 0, 0, 9]] as [[UInt8]] {
            let body = Wire.payload(128) + tail
            var bytes = Wire.full(id: [4], time: 0x0100_0000, length: body.count, type: 9) + body.prefix(128)
            bytes += [0xC4] + tail + Wire.full(id: [5], time: 1, length: 2, type: 8) + [8, 8]
            for step in [1, 3, 1000] {
                let result = Received.read(bytes, step: step)
                #expect(result.messages.map(\.payload) == [body, [8, 8]], "tail \(tail), step \(step)")
            }
        }
    }

    @Test("a type 3 chunk that repeats the absolute time instead of the extended delta is also read")
    func absoluteRepeated() {
        let body = Wire.payload(200)
        var bytes = Wire.full(id: [4], time: 1000, length: 10, type: 8) + Wire.payload(10)
        bytes +=
            Self.delta(17_000_000, length: 200) + body.prefix(128) + [0xC4] + Wire.big(17_001_000) + body.suffix(72)
        let result = Received.read(bytes)
        #expect(result.messages.last?.payload == body)
        #expect(result.messages.last?.timestamp == 17_001_000)
    }

    @Test(
        "times of type 1 headers, extended or not, are deltas modulo 2³²",
        arguments: [
            (0, 17_000_000, 17_000_000), (11_000, 0xFF_FFFF, 16_788_215), (500, 0xFFFF_FFE2, 470),
            (11_000, 0xFF_FC18, 16_787_216),
        ] as [(UInt32, UInt32, UInt32)])
    func extendedDelta(base: UInt32, delta: UInt32, expected: UInt32) {
        let bytes =
            Wire.full(id: [4], time: base, length: 10, type: 8) + Wire.payload(10) + Self.delta(delta)
            + Wire.payload(10)
        #expect(Self.times(bytes) == [base, expected])
    }

    @Test(
        "a type 3 message after type 0 is later by that header's timestamp, or has its time if that exceeds 10 s",
        arguments: [
            (26, 52), (0, 0), (10_000, 20_000), (10_001, 10_001), (100_000, 100_000),
        ] as [(UInt32, UInt32)])
    func typeThreeBehindTypeZero(time: UInt32, expected: UInt32) {
        let bytes = Wire.full(id: [4], time: time, length: 10, type: 8) + Wire.payload(10) + [0xC4] + Wire.payload(10)
        #expect(Self.times(bytes) == [time, expected])
    }

    @Test(
        "RTMP timestamps wrap at 2³² without a trap",
        arguments: [0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFF0] as [UInt32])
    func wrap(time: UInt32) {
        let bytes =
            Wire.full(id: [4], time: time, length: 10, type: 8) + Wire.payload(10) + Self.delta(32) + Wire.payload(10)
        #expect(Self.times(bytes) == [time, time &+ 32])
    }

    @Test("timestamp deltas count per chunk stream, whether it carries audio, video or both")
    func sharedChunkStream() {
        var bytes = Wire.full(id: [4], time: 100, length: 10, type: 9) + Wire.payload(10)
        bytes += Self.delta(7, type: 8) + Wire.payload(10) + Self.delta(3, type: 9) + Wire.payload(10)
        bytes += Wire.full(id: [5], time: 1, length: 10, type: 8) + Wire.payload(10) + Self.delta(5) + Wire.payload(10)
        #expect(Self.times(bytes) == [100, 107, 110, 1, 115])
    }
}
