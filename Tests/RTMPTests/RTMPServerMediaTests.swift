import MediaKernels
import RTMP
import Testing

@Suite("RTMP publish session, server side: media and metadata: RTMP 1.0 §7.1")
struct RTMPServerMediaTests {
    @Test("up to 1 MB of media before the publish decision is queued, and delivered in order if accepted")
    func beforeDecision() {
        var script = ClientScript()
        script.open()
        script.message(9, [0x17, 0, 0, 0, 0, 1])
        script.message(8, [0xAF, 1, 2])
        script.command("deleteStream", 6, [.null])
        let harness = SessionHarness(decision: nil)
        harness.feed(script.take())
        #expect(harness.events.count == 1)
        harness.decide(.accept, on: 99)
        #expect(harness.events.count == 1, "a decision on another request has no effect")
        harness.decide(.accept, on: 1)
        #expect(
            harness.events.dropFirst() == [
                .media(.video, timestamp: 0, payload: [0x17, 0, 0, 0, 0, 1]),
                .media(.audio, timestamp: 0, payload: [0xAF, 1, 2]), .unpublished(.client),
            ])

        var flood = ClientScript()
        flood.open()
        for _ in 0..<5 { flood.message(9, [UInt8](repeating: 0x27, count: 400_000)) }
        let second = SessionHarness(decision: nil)
        second.feed(flood.take())
        second.decide(.accept, on: 1)
        #expect(second.events.count == 3, "two of five fit; the rest was dropped, and nothing closed")
    }

    @Test("media before `publish` is dropped; in an accepted publication it is delivered from any message stream id")
    func mediaStreamID() {
        var script = ClientScript()
        script.message(8, [0xAF, 1, 1])
        script.open()
        script.message(8, [0xAF, 1, 2], streamID: 0)
        script.message(8, [0xAF, 1, 3], streamID: 7)
        let harness = SessionHarness()
        harness.feed(script.take())
        let media = harness.events.dropFirst()
        #expect(
            media == [
                .media(.audio, timestamp: 0, payload: [0xAF, 1, 2]),
                .media(.audio, timestamp: 0, payload: [0xAF, 1, 3]),
            ])
    }

    @Test("onMetaData is read with and without @setDataFrame, and passed on if it changed and is not too long")
    func metadata() {
        let one = AMF0Writer.bytes([
            .string("@setDataFrame"), .string("onMetaData"), .ecmaArray([AMF0Property("a", .null)]),
        ])
        let two = AMF0Writer.bytes([.string("onMetaData"), .object([])])
        let large = AMF0Writer.bytes([
            .string("onMetaData"), .object([AMF0Property("x", .string(String(repeating: "y", count: 200_000)))]),
        ])
        var script = ClientScript()
        script.open()
        for body in [one, one, two, large] { script.message(18, body) }
        let harness = SessionHarness()
        harness.feed(script.take())
        #expect(harness.events.dropFirst() == [.metadata([AMF0Property("a", .null)]), .metadata([])])
        #expect(harness.closeReason == nil)
    }

    @Test(
        "an aggregate's messages are delivered with timestamps relative to the aggregate's", arguments: [true, false])
    func aggregate(hasLastBackPointer: Bool) {
        func sub(_ type: UInt8, _ time: UInt32, _ body: [UInt8]) -> [UInt8] {
            [
                type, 0, 0, UInt8(body.count), UInt8(time >> 16 & 0xFF), UInt8(time >> 8 & 0xFF), UInt8(time & 0xFF),
                UInt8(time >> 24),
            ]
                + [0, 0, 0] + body + RTMPChunkReaderTests.big(UInt32(11 + body.count))
        }
        var body = sub(8, 5000, [0xAF, 1, 1])
        body += sub(9, 5020, [0x27, 1])
        body += sub(22, 5030, [1])
        body += sub(1, 5030, [0, 0, 0, 1])
        body += sub(8, 0x0100_1400, [0xAF, 1, 2])
        if !hasLastBackPointer { body.removeLast(4) }
        var script = ClientScript()
        script.open()
        script.message(22, body, timestamp: 90_000)
        script.message(8, [UInt8](repeating: 0xAF, count: 300), timestamp: 90_100)
        let harness = SessionHarness()
        harness.feed(script.take())
        #expect(
            harness.events.dropFirst().prefix(3) == [
                .media(.audio, timestamp: 90_000, payload: [0xAF, 1, 1]),
                .media(.video, timestamp: 90_020, payload: [0x27, 1]),
                .media(.audio, timestamp: 90_000 + 0x0100_1400 - 5000, payload: [0xAF, 1, 2]),
            ])
        #expect(harness.events.count == 5)
        #expect(harness.closeReason == nil)
    }

    @Test("a truncated aggregate with a wrong length gives the messages that fit", arguments: 0..<60)
    func brokenAggregate(length: Int) {
        var script = ClientScript()
        script.open()
        script.message(
            22,
            Array(
                ([8, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 0, 0, 0, 14, 9, 0xFF, 0xFF, 0xFF]
                    + [UInt8](repeating: 9, count: 50)).prefix(length)))
        let harness = SessionHarness()
        harness.feed(script.take())
        #expect(harness.events.count == (length >= 14 ? 2 : 1))
        #expect(harness.closeReason == nil)
    }

    @Test("of 520,000 empty messages in an aggregate 4,096 are read; more such aggregates close the session")
    func crowdedAggregate() {
        let one: [UInt8] = [8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 11]
        let body = [[UInt8]](repeating: one, count: 520_000).flatMap { $0 }
        var script = ClientScript()
        script.open()
        let harness = SessionHarness()
        harness.feed(script.take())
        script.message(22, body)
        harness.feed(script.take())
        #expect(harness.events.count == 1 + 4_096 && harness.closeReason == nil)
        for _ in 0..<2 { script.message(22, [UInt8](body.prefix(15 * 4_096))) }
        harness.feed(script.take())
        #expect(harness.closeReason == .limit(.tinyMessageRate))
        #expect(harness.events.count <= 3 + 10_000)
    }
}
