import Egress
import Ingest
import MediaKernels
import MediaTypes
import NIOCore
import NIOPosix
import PipelineSpec
import RTMP
import Testing

@Suite("Relay: a source's packets are forwarded unchanged to other rooms", .timeLimit(.minutes(1)), .serialized)
struct RelayTests {
    /// A hub with a relay service.
    struct Near {
        let hub = SourceHub(source: SourceID(uid: "anna"))
        let events = Recorder<RelayEvent>()
        let service: RelayService

        init() {
            let events = self.events
            self.service = RelayService(clock: TestClock()) { _, _, event in events.append(event) }
        }

        /// Sends `count` frames with audio from `start` ms on, a key frame first.
        func send(from start: Int64, count: Int = 3, configurations: Bool = true, bytes: Int = 1000) {
            if configurations {
                self.hub.receive([
                    .configuration(CodecParameters(codec: .h264, configuration: Tags.record)),
                    .configuration(CodecParameters(codec: .aac, configuration: [0x11, 0x90])),
                ])
            }
            for items in Self.media(from: start, count: count, bytes: bytes) { self.hub.receive(items) }
        }

        /// The items of each delivery, one after another.
        static func media(from start: Int64, count: Int, bytes: Int) -> [[SourceItem]] {
            (0..<count).map { index in
                let time = start + Int64(index) * 33
                return [
                    Self.packet(.video, at: time, isKey: index == 0, bytes: bytes),
                    Self.packet(.audio, at: time + 3, isKey: true, bytes: 64),
                ]
            }
        }

        static func packet(_ kind: TrackKind, at time: Int64, isKey: Bool, bytes: Int) -> SourceItem {
            let head: [UInt8] =
                kind == .video
                ? [
                    0, 0, UInt8(truncatingIfNeeded: (bytes - 4) >> 8), UInt8(truncatingIfNeeded: bytes - 4),
                    isKey ? 0x65 : 0x41,
                ]
                : [0x21]
            let body = head + (head.count..<bytes).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ Int(time)) }
            return .packet(
                CodedPacket(
                    kind: kind, memory: PacketMemory(body), pts: time + (kind == .video ? 66 : 0), dts: time,
                    timescale: 1000, isKey: isKey))
        }
    }

    static func url(_ server: TestServer, _ key: String = TestServer.hostKey) throws -> RTMPURL {
        try #require(RTMPURL(server.url(key)))
    }

    /// Payload, timestamps and key flag, which must not change.
    static func facts(_ packets: [CodedPacket]) -> [String] {
        packets.map { packet in
            "\(packet.kind) \(packet.pts) \(packet.dts) \(packet.isKey) \(packet.memory.bytes(in: packet.range).hashValue)"
        }
    }

    @Test("the receiver starts with the cached GOP and gets every packet, byte for byte, with its timestamp")
    func untouched() async throws {
        try await TestServer.with { far in
            let items = ItemRecorder()
            _ = far.server.hub(for: TestServer.host)?.subscribe(items)
            let near = Near()
            let sent = ItemRecorder()
            near.send(from: 4_000_000_000)
            _ = near.hub.subscribe(sent)
            let status = near.service.put(near.hub, id: "r1", url: try Self.url(far))
            #expect(status?.url == "rtmp://127.0.0.1:\(far.port)/live/a_7f…")
            await items.items.wait { $0.count >= 8 }
            near.send(from: 4_294_967_290, count: 40, configurations: false, bytes: 20_000)
            await items.items.wait { $0.count >= 88 }
            #expect(items.configurations == sent.configurations)
            // RTMP's clock has 32 bits: the receiver counts on from the first timestamp it sees.
            let shift = try #require(sent.packets.first).dts - #require(items.packets.first).dts
            #expect(shift % (1 << 32) == 0)
            let expected = sent.packets.map { packet -> CodedPacket in
                var packet = packet
                packet.pts -= shift
                packet.dts -= shift
                return packet
            }
            #expect(Self.facts(items.packets) == Self.facts(expected))
            let relay = try #require(near.service.relays(of: near.hub.source).first)
            #expect(relay.state == .live && relay.dropped == 0 && relay.retries == 0 && relay.lastError == nil)
            #expect(relay.bytes > 800_000)
            await near.service.stop()
            #expect(near.events.elements == [.connecting, .live, .stopped(reason: "the room has ended")])
            await far.events.wait { $0.contains(.unpublished(TestServer.host, reason: "unpublished by the encoder")) }
        }
    }

    @Test("a relay added before its source connects once the source sends")
    func beforeTheSource() async throws {
        try await TestServer.with { far in
            let items = ItemRecorder()
            _ = far.server.hub(for: TestServer.host)?.subscribe(items)
            let near = Near()
            let url = try Self.url(far)
            #expect(near.service.put(near.hub, id: "r1", url: url)?.state == .waiting)
            #expect(near.events.elements.isEmpty)
            near.send(from: 0)
            await items.items.wait { $0.count >= 8 }
            #expect(items.packets.first?.isKey == true)
            await near.service.stop()
        }
    }

    @Test(
        "a relay does not connect to an address that is not allowed, however its URL writes it; once allowed it goes live"
    )
    func egress() async throws {
        try await TestServer.with { far in
            let gate = EgressGate(EgressPolicy())
            let (hub, events) = (SourceHub(source: SourceID(uid: "anna")), Recorder<RelayEvent>())
            let service = RelayService(egress: gate, clock: TestClock()) { _, _, event in events.append(event)
            }
            hub.receive([.configuration(CodecParameters(codec: .h264, configuration: Tags.record))])
            // A name, and forms of the address that only the resolver understands.
            for (id, host) in [("name", "localhost"), ("decimal", "2130706433"), ("hex", "0x7f.1")] {
                let url = try #require(RTMPURL("rtmp://\(host):\(far.port)/live/\(TestServer.hostKey)"))
                service.put(hub, id: id, url: url)
            }
            await events.wait { events in
                events.count { if case .failed = $0 { true } else { false } } >= 3
            }
            for relay in service.relays(of: hub.source) {
                let reason = relay.lastError ?? ""
                #expect(
                    reason.hasSuffix(
                        "is at a loopback or private address, which control.egress.allowedHosts does not list"),
                    "\(reason)")
            }
            let seen = far.events.elements.filter { if case .listening = $0 { false } else { true } }
            #expect(seen.isEmpty, "no client has connected")
            for id in ["decimal", "hex"] { _ = service.remove(hub.source, id: id) }
            gate.policy = EgressPolicy(allowed: ["127.0.0.0/8", "::1/128"].compactMap { EgressEntry($0) })
            await events.wait { $0.contains(.live) }
            await service.stop()
        }
    }

    @Test(
        "a relay may be added twice; a new URL replaces the old one, a fifth relay is refused, a second removal returns false"
    )
    func names() async throws {
        try await TestServer.with { far in
            let near = Near()
            let url = try Self.url(far)
            for name in ["r1", "r2", "r3", "r4"] { #expect(near.service.put(near.hub, id: name, url: url) != nil) }
            #expect(near.service.put(near.hub, id: "r1", url: url) != nil)
            #expect(near.service.put(near.hub, id: "r5", url: url) == nil)
            let other = near.service.put(near.hub, id: "r4", url: try Self.url(far, TestServer.guestKey))
            #expect(other?.url.hasSuffix("b_19…") == true)
            #expect(near.service.relays(of: near.hub.source).map(\.relayID) == ["r1", "r2", "r3", "r4"])
            #expect(near.service.remove(near.hub.source, id: "r1"))
            #expect(!near.service.remove(near.hub.source, id: "r1"))
            await near.events.wait {
                $0.contains(.stopped(reason: "removed")) && $0.contains(.stopped(reason: "replaced"))
            }
            await near.service.stop()
        }
    }

    @Test("a receiver that refuses or goes down is reported as failed, with a retry time and without the key")
    func returns() async throws {
        let near = Near()
        near.send(from: 0)
        try await TestServer.with { far in
            near.service.put(near.hub, id: "r1", url: try Self.url(far, "wrong_and_secret"))
            await near.events.wait { $0.count >= 3 }
            guard case .failed(let reason, let retryMs)? = near.events.elements.dropFirst().first else {
                Issue.record("\(near.events.elements)")
                return
            }
            #expect(!reason.contains("wrong_and_secret") && !reason.isEmpty)
            #expect((500...1000).contains(retryMs))
            #expect(near.service.relays(of: near.hub.source).first?.lastError == reason)
            // Its second attempt has started: with the right key it goes live.
            near.service.put(near.hub, id: "r1", url: try Self.url(far))
            await near.events.wait { $0.contains(.live) }
            await far.server.stop()
            await near.events.wait { $0.count { if case .failed = $0 { true } else { false } } >= 2 }
        }
        await near.service.stop()
    }

    @Test(
        "when the source ends, the relay unpublishes at once; when the source returns, the relay sends a key frame first"
    )
    func sourceReturns() async throws {
        try await TestServer.with { far in
            let items = ItemRecorder()
            _ = far.server.hub(for: TestServer.host)?.subscribe(items)
            let near = Near()
            near.send(from: 5000)
            near.service.put(near.hub, id: "r1", url: try Self.url(far))
            await items.items.wait { $0.count >= 8 }
            // No clock advances between these two: the relay has no grace of its own.
            near.hub.receive([.end])
            await far.events.wait { $0.contains(.unpublished(TestServer.host, reason: "unpublished by the encoder")) }
            await near.events.wait { $0.contains(.stopped(reason: "the source is gone")) }
            #expect(items.packets.count == 6 && items.ends == 1, "everything that arrived before the end")
            near.hub.receive([.configuration(CodecParameters(codec: .h264, configuration: Tags.record))])
            near.hub.receive([Near.packet(.video, at: 10, isKey: false, bytes: 100)])
            near.send(from: 43)
            await items.items.wait { $0.count >= 17 }
            #expect(items.packets.dropFirst(6).first?.isKey == true, "everything sent can be decoded")
            let relay = try #require(near.service.relays(of: near.hub.source).first)
            #expect(relay.state == .live && relay.retries == 0 && relay.lastError == nil)
            near.hub.receive([.end])
            await items.items.wait { if case .end? = $0.last { true } else { false } }
            await near.service.stop()
        }
    }

    @Test("a source that ends while its relay is connecting ends that connection attempt")
    func goesMeanwhile() async throws {
        try await TestServer.with { far in
            let hub = SourceHub(source: SourceID(uid: "anna"))
            let events = Recorder<RelayEvent>()
            let service = RelayService(clock: TestClock()) { _, _, event in
                if event == .connecting { hub.receive([.end]) }
                events.append(event)
            }
            hub.receive([.configuration(CodecParameters(codec: .h264, configuration: Tags.record))])
            service.put(hub, id: "r1", url: try Self.url(far))
            await events.wait { $0.contains(.stopped(reason: "the source is gone")) }
            #expect(events.elements == [.connecting, .stopped(reason: "the source is gone")])
            #expect(service.relays(of: hub.source).first?.state == .waiting)
            await service.stop()
        }
    }

    @Test("a receiver that reads nothing delays neither the publisher nor the other relay; its packets are dropped")
    func slowFarSide() async throws {
        try await TestServer.with { far in
            let items = ItemRecorder()
            _ = far.server.hub(for: TestServer.host)?.subscribe(items)
            let stuck = try await StuckServer.start()
            let near = Near()
            near.service.put(near.hub, id: "slow", url: try #require(RTMPURL("rtmp://127.0.0.1:\(stuck.port)/live/x")))
            near.service.put(near.hub, id: "good", url: try Self.url(far))
            near.send(from: 0)
            await near.events.wait { $0.count { $0 == .live } == 2 }
            // 60 MB: more than kernel and queue hold.
            for gop in 1...60 {
                // A publisher that waited for the receiver would wait without end: it reads nothing.
                for items in Near.media(from: Int64(gop) * 1000, count: 20, bytes: 50_000) { near.hub.receive(items) }
                await items.items.wait { $0.count >= 8 + gop * 40 }
            }
            let relays = near.service.relays(of: near.hub.source)
            #expect(relays.first { $0.relayID == "good" }?.dropped == 0)
            #expect((relays.first { $0.relayID == "slow" }?.dropped ?? 0) > 500)
            await near.service.stop()
            try await stuck.stop()
        }
    }
}

/// Admits all publishers, and reads nothing from then on.
private struct StuckServer {
    let channel: any Channel
    var port: Int { self.channel.localAddress?.port ?? 0 }

    static func start() async throws -> StuckServer {
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Handler())
                }
            }
            .childChannelOption(.socketOption(.so_rcvbuf), value: 64 << 10)
            .bind(host: "127.0.0.1", port: 0).get()
        return StuckServer(channel: channel)
    }

    func stop() async throws { try await self.channel.close().get() }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer
        private var session = RTMPServerSession(now: 0, random: [])

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let buffer = self.unwrapInboundIn(data)
            self.perform(self.session.receive(buffer.readableBytesUInt8Span, now: 0), context)
        }

        private func perform(_ actions: [RTMPServerAction], _ context: ChannelHandlerContext) {
            for action in actions {
                switch action {
                case .send(let bytes):
                    context.writeAndFlush(self.wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
                case .publishRequested(let request):
                    self.perform(self.session.decide(.accept, on: request.id, now: 0), context)
                    context.channel.setOption(.autoRead, value: false).whenFailure { _ in }
                default: break
                }
            }
        }
    }
}
