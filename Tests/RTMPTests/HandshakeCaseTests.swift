import MediaKernels
import RTMP
import Testing

@Suite("RTMP handshakes as particular clients expect them")
struct HandshakeCaseTests {
    /// Contents of C1: two with a version of a player that sends digests, one of zeros, one of 0xFF bytes.
    static let firsts: [[UInt8]] = [
        [0, 0, 0, 0, 9, 0, 0x7C, 2] + (8..<1536).map { UInt8(truncatingIfNeeded: $0 &* 13) },
        [1, 2, 3, 4, 0x80, 0, 7, 2] + (8..<1536).map { UInt8(truncatingIfNeeded: $0 &* 29 &+ 5) },
        [UInt8](repeating: 0, count: 1536), [UInt8](repeating: 0xFF, count: 1536),
    ]

    @Test("whatever C1 and C2 contain, S2 repeats C1, and the client can connect and publish", arguments: firsts)
    func anyRandom(c1: [UInt8]) {
        for c2 in [[UInt8](repeating: 0x55, count: 1536), c1, [0, 0, 0, 9, 0, 0, 0, 8] + c1.dropFirst(8)] {
            var script = ClientScript(handshake: false)
            script.raw([3] + c1 + c2)
            script.open()
            let harness = SessionHarness()
            harness.feed(script.take())
            #expect(Array(harness.sent[1537..<3073]) == c1)
            #expect(harness.isPublishing)
        }
    }

    @Test("as HaishinKit expects, nothing follows S0, S1 and S2 before `connect`, and each call is answered")
    func haishinKit() {
        let c1 = Self.firsts[0]
        let harness = SessionHarness()
        harness.feed([3] + c1)
        #expect(harness.sent.count > 1537)
        var input = harness.sent.dropFirst(1537)
        #expect(input.count == 1536)
        input = []
        harness.feed([UInt8](repeating: 1, count: 1536))
        #expect(harness.sent.count == 3073)
        // It sends Set Chunk Size after `_result`, publishes without a transaction, and waits for each answer.
        var script = ClientScript(handshake: false)
        script.connect()
        harness.feed(script.take())
        script.message(1, RTMPChunkReaderTests.big(8192), id: 2, streamID: 0)
        script.writer.chunkSize = 8192
        for (name, transaction) in [("releaseStream", 2.0), ("FCPublish", 3), ("createStream", 4)] {
            script.command(name, transaction, [.null, .string("key")])
            harness.feed(script.take())
            #expect(harness.commands().last { $0.values.first?.string == "_result" }?.values[1] == .number(transaction))
        }
        script.publish(transaction: 0)
        harness.feed(script.take())
        #expect(harness.commands().last?.streamID == 1 && harness.statusCodes() == ["NetStream.Publish.Start"])
        script.command("closeStream", 0, [.null], streamID: 1)
        harness.feed(script.take())
        #expect(harness.statusCodes().last == "NetStream.Unpublish.Success")
    }
}
