import PublishAuth
import Ingest
import MediaTypes
import NIOCore
import NIOPosix
import Testing

@Suite("Many refused SRT callers", .timeLimit(.minutes(1)))
struct SRTCrowdTests {
    /// A caller up to the answer to its conclusion: libsrt's bytes, but with a request to play.
    private final class Caller: ChannelInboundHandler {
        typealias InboundIn = AddressedEnvelope<ByteBuffer>
        typealias OutboundOut = AddressedEnvelope<ByteBuffer>

        private let door: SocketAddress
        private let refusals: Recorder<Int>

        init(_ door: SocketAddress, _ refusals: Recorder<Int>) {
            self.door = door
            self.refusals = refusals
        }

        func channelActive(context: ChannelHandlerContext) { self.send(SRTCapture.induction, context) }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let bytes = Array(self.unwrapInboundIn(data).data.readableBytesView)
            guard let answer = SRTHandshake(bytes) else { return }
            if answer.type == SRTHandshake.induction {
                self.send(SRTHandshake.conclusion(Self.request, cookie: answer.cookie), context)
            } else {
                self.refusals.append(Int(answer.type))
            }
        }

        private func send(_ bytes: [UInt8], _ context: ChannelHandlerContext) {
            let envelope = AddressedEnvelope(remoteAddress: self.door, data: ByteBuffer(bytes: bytes))
            context.writeAndFlush(self.wrapOutboundOut(envelope), promise: nil)
        }

        /// `m=request` instead of `m=publish`: the text starts after the header and the first extension, in
        /// byte-swapped words.
        static let request: [UInt8] = {
            var bytes = SRTCapture.conclusion
            for (index, byte) in zip(22..., "request".utf8) { bytes[84 + index / 4 * 4 + 3 - index % 4] = byte }
            return bytes
        }()
    }

    /// A clock that does not advance.
    private struct StandingClock: MonotonicClock {
        func now() -> Int64 { 1_000_000_000 }
    }

    @Test("of 40 refused SRT callers ten get a rejection and an info log line; the others get neither")
    func crowd() async throws {
        #expect(SRTHandshake.extensions(of: Caller.request)?.streamID == "#!::r=live/mykey123,m=request")
        try await TestServer.with(clock: StandingClock(), { $0.srt = SRTSettings(listen: "127.0.0.1:0") }) { server in
            let events = await server.events.wait {
                $0.contains { if case .listeningForSRT = $0 { true } else { false } }
            }
            let listening = events.compactMap { if case .listeningForSRT(let address) = $0 { address } else { nil } }
            let port = try #require(listening.first?.split(separator: ":").last.flatMap { Int($0) })
            let door = try SocketAddress(ipAddress: "127.0.0.1", port: port)
            let refusals = Recorder<Int>()
            var callers: [any Channel] = []
            for _ in 0..<40 {
                let caller = try await DatagramBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                    .channelInitializer { channel in
                        channel.eventLoop.makeCompletedFuture {
                            try channel.pipeline.syncOperations.addHandler(Caller(door, refusals))
                        }
                    }
                    .bind(host: "127.0.0.1", port: 0).get()
                callers.append(caller)
            }
            await server.events.wait { $0.count { if case .refused = $0 { true } else { false } } == 40 }
            await refusals.wait { $0.count == 10 }
            #expect(refusals.elements == [Int](repeating: 2405, count: 10))
            #expect(server.log.elements.count { $0.hasPrefix("info") && $0.contains("refused") } == 10)
            for caller in callers { try await caller.close().get() }
        }
    }
}
