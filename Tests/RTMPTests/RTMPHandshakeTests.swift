import RTMP
import Testing

@Suite("RTMP handshake: RTMP 1.0 §5.2")
struct RTMPHandshakeTests {
    static let c1 = (0..<1536).map { UInt8(truncatingIfNeeded: $0 &* 31) }

    @Test("S0, S1 and S2 are sent in one write once C1 is complete, and nothing more until connect")
    func oneWrite() {
        let harness = SessionHarness()
        harness.feed([3] + Self.c1)
        #expect(harness.writes == [3073])
        #expect(harness.sent[0] == 3)
        #expect(Array(harness.sent[1..<9]) == [UInt8](repeating: 0, count: 8))
        #expect(Array(harness.sent[9..<1537]) == [UInt8](repeating: 0xAB, count: 1528), "S1 carries the random bytes")
        #expect(Array(harness.sent[1537...]) == Self.c1, "S2 repeats C1")
        harness.feed([UInt8](repeating: 0x55, count: 1536))
        #expect(harness.writes == [3073], "HaishinKit waits for exactly the bytes of S2")
    }

    @Test("the RTMP server sends nothing before C1 is complete")
    func notEarly() {
        let harness = SessionHarness()
        harness.feed([3] + Self.c1.dropLast())
        #expect(harness.writes.isEmpty)
    }

    @Test("C0, C1, C2 and `connect` received together are answered in one write")
    func glued() {
        var script = ClientScript()
        script.connect()
        let harness = SessionHarness()
        harness.feed(script.take())
        #expect(harness.writes.count == 1, "one write for all replies")
        #expect(harness.commands().map { $0.values.first?.string } == ["_result"])
    }

    @Test(
        "TLS, HTTP and other protocols are recognized at their first byte, and the session closes without a reply",
        arguments: [
            (6, RTMPVersionFault.encrypted), (0x16, .tls), (UInt8(ascii: "G"), .text), (UInt8(ascii: "P"), .text),
            (0, .other(0)), (0xF3, .other(0xF3)),
        ] as [(UInt8, RTMPVersionFault)])
    func wrongVersion(first: UInt8, fault: RTMPVersionFault) {
        let harness = SessionHarness()
        harness.feed([first])
        #expect(harness.events == [.close(.version(fault))])
        #expect(harness.sent.isEmpty)
        harness.feed([3] + Self.c1)
        #expect(harness.sent.isEmpty, "a closed session drops its input")
    }

    @Test("a handshake that arrives byte by byte has five seconds in all, not five after each byte")
    func absoluteDeadline() {
        let harness = SessionHarness()
        for second in 0..<5 {
            harness.now = Int64(second) * 1_000_000_000
            harness.feed(second == 0 ? [3] : [1])
            harness.deadlineReached()
            #expect(harness.closeReason == nil)
        }
        #expect(harness.nextDeadline == 5_000_000_000)
        harness.now = 5_000_000_000
        harness.deadlineReached()
        #expect(harness.closeReason == .deadline(.handshake))
        #expect(harness.nextDeadline == nil)
    }
}
