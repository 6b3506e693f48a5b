import RTMP
import TestSupport
import Testing

@Suite("RTMP captures of real clients")
struct RTMPCaptureTests {
    static func messages(_ name: String, step: Int = .max) -> [Received] {
        let result = Received.read(Array(Fixtures.bytes(name).dropFirst(Fixtures.handshakeLength)), step: step)
        #expect(result.failure == nil, "\(name)")
        return result.messages
    }

    @Test(
        "messages of a capture have the number, types, times and lengths that an independent decoder printed",
        arguments: Fixtures.names)
    func agreesWithLog(name: String) {
        let messages = Self.messages(name)
        let lines = Fixtures.lines(name)
        #expect(lines.count > 10)
        // Set Chunk Size is numbered in the log, but not delivered here.
        let hidden = lines.filter { $0.type == 1 || $0.type == 2 }
        for line in lines where line.type > 2 {
            let index = line.number - 1 - hidden.count { $0.number < line.number }
            guard messages.indices.contains(index) else {
                Issue.record("message \(line.number) is missing")
                return
            }
            #expect(messages[index].type == line.type)
            #expect(messages[index].timestamp == line.timestamp, "message \(line.number)")
            #expect(messages[index].payload.count == line.length)
        }
        #expect(messages.count == (lines.last?.number ?? 0) - hidden.count)
    }

    @Test("a capture of librtmp, with all media on one chunk stream, has the same timestamps as one of rtmp2sink")
    func sharedChunkStreamTimes() {
        func times(_ name: String, _ type: UInt8) -> [UInt32] {
            Self.messages(name).filter { $0.type == type }.map(\.timestamp)
        }
        #expect(times("gst_rtmp", 9) == times("gst_rtmp2", 9))
        #expect(times("gst_rtmp", 8) == times("gst_rtmp2", 8))
    }

    /// The events and reply bytes of a server session that receives a capture.
    static func replay(_ name: String, pieces: [Int]) -> (events: [SessionHarness.Event], sent: [UInt8]) {
        let harness = SessionHarness()
        harness.feed(Fixtures.bytes(name), pieces: pieces)
        return (harness.events, harness.sent)
    }

    @Test(
        "an RTMP capture gives the same events and replies as a whole, byte by byte and in 40 random splits",
        arguments: Fixtures.names)
    func splitInvariance(name: String) {
        let whole = Self.replay(name, pieces: [])
        #expect(whole.events.count > 10)
        let bytewise = Self.replay(name, pieces: [Int](repeating: 1, count: 50_000))
        #expect(bytewise.events == whole.events)
        #expect(bytewise.sent == whole.sent)
        for seed in 0..<40 {
            var random = TestRandom(seed: UInt64(seed))
            let largest = [3, 20, 200, 5000].randomElement(using: &random) ?? 3
            let pieces = (0..<20_000).map { _ in Int.random(in: 1...largest, using: &random) }
            let split = Self.replay(name, pieces: pieces)
            #expect(split.events == whole.events, "seed \(seed)")
            #expect(split.sent == whole.sent, "seed \(seed)")
        }
    }

    @Test("each captured client requests its stream key, sends media, and unpublishes once", arguments: Fixtures.names)
    func clientOrders(name: String) {
        let events = Self.replay(name, pieces: []).events
        var requests: [PublishRequest] = []
        var unpublished = 0
        var media = 0
        for event in events {
            switch event {
            case .publishRequested(let request): requests.append(request)
            case .unpublished(.client): unpublished += 1
            case .media: media += 1
            case .metadata: break
            default: Issue.record("\(name): \(event)")
            }
        }
        #expect(requests.map { $0.address.key(app: "live") } == ["key1"])
        #expect(unpublished == 1)
        #expect(media >= 10)
        let answers = Self.replay(name, pieces: []).sent
        #expect(answers.count > Fixtures.handshakeLength)
    }
}
