import MediaKernels
import RTMP
import Testing

@Suite("RTMP publish session, server side: control messages, deadlines, floods: RTMP 1.0 §5.4")
struct RTMPServerLimitTests {
    @Test("a ping is answered with its own timestamp; other user control messages are ignored")
    func ping() {
        var script = ClientScript()
        script.connect()
        let before = script.bytes.count
        script.message(4, [0, 6, 1, 2, 3, 4], id: 2, streamID: 0)
        for event in [[0, 3, 0, 0, 0, 1, 0, 0, 0, 9], [0, 31, 0, 0, 0, 1], [0, 32], [0], []] as [[UInt8]] {
            script.message(4, event, id: 2, streamID: 0)
        }
        #expect(script.bytes.count > before)
        let harness = SessionHarness()
        harness.feed(script.take())
        #expect(harness.answers().filter { $0.type == .userControl }.map(\.payload.bytes) == [[0, 7, 1, 2, 3, 4]])
        #expect(harness.quirks.contains(.controlLength))
        #expect(harness.closeReason == nil)
    }

    @Test("eight messages of undefined types are ignored, a ninth closes the session")
    func unknownTypes() {
        var script = ClientScript()
        script.open()
        for type in [7, 10, 11, 12, 13, 14, 21, 0] as [UInt8] { script.message(type, [1, 2]) }
        let harness = SessionHarness()
        harness.feed(script.take())
        #expect(harness.closeReason == nil)
        script.message(7, [1])
        harness.feed(script.take())
        #expect(harness.closeReason == .desync(.unknownMessages))
    }

    @Test(
        "the server acknowledges each half of the requested window, at most once per read, even for a window of 1 byte",
        arguments: [1, 65_536] as [UInt32])
    func acknowledgements(window: UInt32) {
        var script = ClientScript()
        script.open()
        script.message(5, RTMPChunkReaderTests.big(window), id: 2, streamID: 0)
        let harness = SessionHarness()
        harness.feed(script.take())
        func acknowledged() -> [UInt32] {
            harness.answers().filter { $0.type == .acknowledgement }.map { message in
                message.payload.bytes.reduce(0) { $0 << 8 | UInt32($1) }
            }
        }
        #expect(acknowledged().isEmpty)
        script.message(9, [UInt8](repeating: 0x27, count: 40_000))
        harness.feed(script.take())
        #expect(acknowledged() == [UInt32(harness.bytesReceived)])
        script.message(9, [UInt8](repeating: 0x27, count: 400_000))
        harness.feed(script.take())
        #expect(acknowledged().count == 2)
    }

    @Test("a publish request that is not decided within 2.5 s is refused")
    func decisionDeadline() {
        var script = ClientScript()
        script.open()
        let harness = SessionHarness(decision: nil)
        harness.now = 1_000_000_000
        harness.feed(script.take())
        #expect(harness.nextDeadline == 3_500_000_000)
        harness.now = 3_500_000_000
        harness.deadlineReached()
        #expect(harness.statusCodes() == ["NetStream.Publish.Denied"])
        harness.decide(.accept, on: 1)
        #expect(!harness.isPublishing, "a decision after the end changes nothing")
    }

    @Test("a connection must publish within ten seconds, and again within ten seconds after unpublishing")
    func publishDeadline() {
        var script = ClientScript()
        script.connect()
        let harness = SessionHarness()
        harness.feed(script.take())
        #expect(harness.nextDeadline == 10_000_000_000)
        script.publish()
        script.message(8, [0xAF, 1, 1])
        harness.feed(script.take())
        script.command("closeStream", 0, [.null])
        harness.now = 50_000_000_000
        harness.feed(script.take())
        #expect(harness.nextDeadline == 60_000_000_000)
        harness.now = 60_000_000_000
        harness.deadlineReached()
        #expect(harness.closeReason == .deadline(.publish))
    }

    @Test("a publisher has 20 s to send its first media, and is closed after 90 s without media")
    func mediaDeadlines() {
        var script = ClientScript()
        script.open()
        let harness = SessionHarness()
        harness.feed(script.take())
        #expect(harness.nextDeadline == 20_000_000_000)
        script.message(8, [0xAF, 1, 1])
        harness.now = 19_000_000_000
        harness.feed(script.take())
        #expect(harness.nextDeadline == 109_000_000_000)
        harness.now = 108_000_000_000
        harness.deadlineReached()
        #expect(harness.closeReason == nil)
        harness.now = 109_000_000_000
        harness.deadlineReached()
        #expect(harness.closeReason == .deadline(.mediaIdle))
        #expect(harness.events.contains(.unpublished(.closed(.deadline(.mediaIdle)))))
    }

    @Test("floods of commands, tiny messages or media before publishing close the session once", arguments: 0..<3)
    func floods(kind: Int) {
        var script = ClientScript()
        let harness = SessionHarness()
        let expected: RTMPLimit
        switch kind {
        case 0:
            script.open()
            for _ in 0..<200 { script.message(4, [0, 6, 0, 0, 0, 1], id: 2, streamID: 0) }
            expected = .commandRate
        case 1:
            script.open()
            harness.feed(script.take())
            for _ in 0..<20_000 { script.message(8, [0xAF]) }
            expected = .tinyMessageRate
        default:
            script.connect()
            for _ in 0..<100 { script.message(9, [UInt8](repeating: 0, count: 1000)) }
            expected = .setupBytes
        }
        harness.feed(script.take())
        #expect(harness.closeReason == .limit(expected))
        #expect(harness.events.filter { if case .close = $0 { true } else { false } }.count == 1)
    }

    @Test("Abort and Set Chunk Size count as commands: 50 are accepted, 150 at once close the session")
    func readerFloods() {
        for (type, body) in [(2, []), (2, [0, 0, 0, 9]), (1, [0, 0, 16, 0])] as [(UInt8, [UInt8])] {
            var script = ClientScript()
            script.open()
            for _ in 0..<50 { script.message(type, body, id: 2, streamID: 0) }
            let harness = SessionHarness()
            harness.feed(script.take())
            #expect(harness.closeReason == nil)
            for _ in 0..<100 { script.message(type, body, id: 2, streamID: 0) }
            harness.feed(script.take())
            #expect(harness.closeReason == .limit(.commandRate))
        }
    }

    @Test("ten pings per second are accepted for five minutes")
    func calmCommands() {
        var script = ClientScript()
        script.open()
        let harness = SessionHarness()
        for second in 0..<300 {
            harness.now = Int64(second) * 1_000_000_000
            for _ in 0..<10 { script.message(4, [0, 6, 0, 0, 0, 1], id: 2, streamID: 0) }
            script.message(8, [0xAF, 1, 1])
            harness.feed(script.take())
        }
        #expect(harness.closeReason == nil)
    }
}
