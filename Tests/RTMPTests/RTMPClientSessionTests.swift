import MediaKernels
import MediaTypes
import RTMP
import TestSupport
import Testing

@Suite("RTMP publish session, client side: RTMP 1.0 §7.2")
struct RTMPClientSessionTests {
    /// Client and server, connected to each other.
    final class Pair {
        var client: RTMPClientSession
        let server: SessionHarness
        var actions: [RTMPClientAction] = []
        private var delivered = 0

        init(url: RTMPURL, decision: PublishDecision = .accept) {
            self.client = RTMPClientSession(url: url)
            self.server = SessionHarness(decision: decision)
        }

        /// Runs until neither sends any more; `step` splits the server's bytes.
        func run(step: Int) {
            var toServer = self.client.start(random: [1, 2, 3])
            while !toServer.isEmpty {
                self.server.feed(toServer)
                toServer = []
                let bytes = Array(self.server.sent[self.delivered...])
                self.delivered = self.server.sent.count
                for start in stride(from: 0, to: bytes.count, by: step) {
                    for action in self.client.receive(bytes[start..<min(start + step, bytes.count)].span) {
                        if case .send(let reply) = action { toServer += reply } else { self.actions.append(action) }
                    }
                }
            }
        }

        var isReady: Bool { self.client.isReady }
    }

    static func url(_ text: String = "rtmp://host/live/key?a=1") throws -> RTMPURL { try #require(RTMPURL(text)) }

    @Test(
        "the RTMP client completes connect, createStream and publish with pieces of 1, 2, 5, 100 and 100,000 bytes",
        arguments: [1, 2, 5, 100, 100_000])
    func becomesReady(step: Int) throws {
        let pair = Pair(url: try Self.url())
        pair.run(step: step)
        #expect(pair.actions == [.ready])
        #expect(pair.isReady)
        #expect(pair.server.isPublishing)
        guard case .publishRequested(let request)? = pair.server.events.first else {
            Issue.record("no request")
            return
        }
        #expect(request.address.key(app: "live") == "key")
        #expect(request.tcURL == "rtmp://host:1935/live")
    }

    @Test(
        "the RTMP server receives media and metadata as the RTMP client sends them, and the client's finish unpublishes"
    )
    func media() throws {
        let pair = Pair(url: try Self.url())
        pair.run(step: 1000)
        pair.server.feed(pair.client.bytes(forMetadata: [AMF0Property("width", .number(16))]))
        var sent: [SessionHarness.Event] = []
        for index in 0..<50 {
            let body = RTMPChunkReaderTests.payload([3, 200, 10_000, 70_000][index % 4], index)
            let time = UInt32(index) &* 33 &+ (index > 25 ? 0xFFFF_FF00 : 0)
            let kind: RTMPMediaMessage.Kind = index % 3 == 0 ? .audio : .video
            pair.server.feed(
                pair.client.bytes(for: RTMPMediaMessage(kind: kind, timestamp: time, payload: PacketMemory(body))))
            sent.append(.media(kind, timestamp: time, payload: body))
        }
        pair.server.feed(pair.client.finish())
        let events = Array(pair.server.events.dropFirst())
        #expect(events == [.metadata([AMF0Property("width", .number(16))])] + sent + [.unpublished(.client)])
        let late = RTMPMediaMessage(kind: .audio, timestamp: 0, payload: PacketMemory([1]))
        #expect(pair.client.bytes(for: late).isEmpty, "nothing after the end")
    }

    @Test(
        "if the server refuses, the RTMP client fails with the server's status code",
        arguments: [PublishRefusal.denied, .busy, .unsupportedCodec("x")])
    func refused(refusal: PublishRefusal) throws {
        let pair = Pair(url: try Self.url(), decision: .deny(refusal))
        pair.run(step: 100_000)
        #expect(
            pair.actions == [
                .failed(.rejected(RTMPClientStatus(level: "error", code: refusal.code, text: refusal.text)))
            ])
        #expect(!pair.isReady)
    }

    @Test("the RTMP client fails at once if the server answers with HTTP")
    func otherServer() throws {
        var client = RTMPClientSession(url: try Self.url())
        let actions = client.receive(Array("HTTP/1.1 400 Bad Request".utf8).span)
        #expect(actions == [.failed(.server(.version(.text)))])
    }

    @Test("if a server refuses and then sends garbage, the RTMP client fails with the refusal")
    func refusedBeforeDesync() throws {
        var client = RTMPClientSession(url: try Self.url())
        var writer = RTMPChunkWriter()
        var bytes: [UInt8] = [3] + [UInt8](repeating: 1, count: 3072)
        let information = AMF0Value.object([
            AMF0Property("level", .string("error")), AMF0Property("code", .string("NetStream.Publish.BadName")),
        ])
        let refusal = RTMPCommand("onStatus", [.null, information])
        writer.write(refusal.message(chunkStreamID: 5, streamID: 1), into: &bytes)
        // A message of type 255.
        bytes += [3, 0, 0, 0, 0, 0, 1, 255, 0, 0, 0, 0]
        let actions = client.receive(bytes.span)
        let status = RTMPClientStatus(level: "error", code: "NetStream.Publish.BadName", text: "")
        #expect(actions.last == .failed(.rejected(status)))
    }

    @Test("random bytes after the server's handshake do not trap the RTMP client", arguments: 0..<100)
    func noise(seed: Int) throws {
        var random = TestRandom(seed: UInt64(seed))
        var client = RTMPClientSession(url: try Self.url())
        let noise = (0..<3000).map { _ in UInt8.random(in: 0...255, using: &random) }
        let actions = client.receive(([3] + [UInt8](repeating: 1, count: 3072) + noise).span)
        #expect(actions.count <= 3)
    }
}
