import Ingest
import MediaKernels
import MediaTypes
import NIOCore
import NIOPosix
import RTMP
import Testing

@Suite("RTMP server over loopback connections", .timeLimit(.minutes(1)))
struct IngestServerTests {
    @Test("a publisher's configurations and packets reach its source, and no other")
    func publishes() async throws {
        try await TestServer.with { server in
            let host = ItemRecorder()
            let guest = ItemRecorder()
            _ = server.server.hub(for: TestServer.host)?.subscribe(host)
            _ = server.server.hub(for: TestServer.guest)?.subscribe(guest)
            let publisher = try await TestPublisher.publish(server.url(TestServer.hostKey))
            #expect(publisher.outcomes.elements == [.ready])
            try await publisher.sendMedia(from: 1000)
            try await publisher.finish()
            await host.items.wait { if case .end? = $0.last { true } else { false } }
            #expect(host.configurations.map(\.codec) == [.h264, .aac])
            #expect(host.packets.map(\.dts) == [1000, 1000, 1033])
            #expect(host.packets.map(\.isKey) == [true, true, false])
            #expect(host.packets.allSatisfy { $0.arrival > 0 })
            #expect(guest.items.elements.isEmpty)

            let events = await server.events.wait { $0.contains { if case .unpublished = $0 { true } else { false } } }
            #expect(events.contains(.firstVideo(TestServer.host)))
            #expect(events.contains(.firstAudio(TestServer.host)))
            let statistics = server.server.statistics[TestServer.host]
            #expect(statistics?.videoPackets == 2 && statistics?.keyFrames == 1 && statistics?.audioPackets == 1)
            #expect(statistics?.publications == 1 && statistics?.isPublishing == false)
            #expect(statistics?.bytes ?? 0 > 3073)
        }
    }

    @Test("two RTMP publishers use one port at the same time")
    func twoPublishers() async throws {
        try await TestServer.with { server in
            let host = ItemRecorder()
            let guest = ItemRecorder()
            _ = server.server.hub(for: TestServer.host)?.subscribe(host)
            _ = server.server.hub(for: TestServer.guest)?.subscribe(guest)
            let first = try await TestPublisher.publish(server.url(TestServer.hostKey))
            let second = try await TestPublisher.publish(server.url(TestServer.guestKey + "?token=1"))
            try await first.sendMedia(from: 5)
            try await second.sendMedia(from: 7)
            await host.items.wait { $0.count == 5 }
            await guest.items.wait { $0.count == 5 }
            #expect(host.packets.first?.dts == 5)
            #expect(guest.packets.first?.dts == 7)
        }
    }

    @Test(
        "unknown keys, wrong keys and other apps get the same error, and no key is in events or the log",
        arguments: [
            "live/unknown_key_of_a_stranger", "live/a_7fd1_secret_of_hosT", "other/a_7fd1_secret_of_host", "live",
        ])
    func wrongKey(path: String) async throws {
        try await TestServer.with { server in
            let publisher = try await TestPublisher.publish("rtmp://127.0.0.1:\(server.port)/\(path)")
            let refusal = PublishRefusal.denied
            let status = RTMPClientStatus(level: "error", code: refusal.code, text: refusal.text)
            await publisher.outcomes.wait { $0 == [.failed(.rejected(status)), .closed] }
            let events = await server.events.wait { $0.contains { if case .refused = $0 { true } else { false } } }
            let all = "\(events) \(server.log.elements)"
            #expect(!all.contains("secret") && !all.contains("stranger"))
            #expect(events.contains { if case .refused(_, _, _, .authDenied?) = $0 { true } else { false } })
        }
    }

    @Test("a second encoder with the same key takes over; the first one gets an error and is closed")
    func takeover() async throws {
        try await TestServer.with { server in
            let items = ItemRecorder()
            _ = server.server.hub(for: TestServer.host)?.subscribe(items)
            let older = try await TestPublisher.publish(server.url(TestServer.hostKey))
            try await older.sendMedia()
            await items.items.wait { $0.count == 5 }
            let newer = try await TestPublisher.publish(server.url(TestServer.hostKey))
            #expect(newer.outcomes.elements == [.ready])
            let refusal = PublishRefusal.takenOver
            let status = RTMPClientStatus(level: "error", code: refusal.code, text: refusal.text)
            await older.outcomes.wait { $0 == [.ready, .failed(.rejected(status)), .closed] }
            try await newer.sendMedia(from: 9000)
            await items.items.wait { $0.count == 11 }
            #expect(items.ends == 1, "the older publication ends before the newer one starts")
            #expect(items.configurations.count == 4)
            #expect(items.packets.last?.dts == 9033)
            #expect(server.server.statistics[TestServer.host]?.isPublishing == true)
        }
    }

    @Test("when two encoders take a key from each other, the third takeover within ten seconds gets BadName")
    func flapping() async throws {
        try await TestServer.with(clock: StillClock(), Self.withoutPacing) { server in
            let items = ItemRecorder()
            _ = server.server.hub(for: TestServer.host)?.subscribe(items)
            var publishers: [TestPublisher] = []
            for round in 1...3 {
                let publisher = try await TestPublisher.publish(server.url(TestServer.hostKey))
                #expect(publisher.outcomes.elements == [.ready])
                try await publisher.sendMedia()
                await items.items.wait { $0.count == 6 * round - 1 }
                publishers.append(publisher)
            }
            let fourth = try await TestPublisher.publish(server.url(TestServer.hostKey))
            guard case .failed(.rejected(let status))? = fourth.outcomes.elements.first else {
                Issue.record("was admitted")
                return
            }
            #expect(status.code == "NetStream.Publish.BadName")
            #expect(server.events.elements.count { if case .flapping = $0 { true } else { false } } == 1)
        }
    }

    /// Bytes are delivered as they arrive, whatever the clock says.
    private static func withoutPacing(_ configuration: inout IngestConfiguration) {
        configuration.readPatience[TestServer.host] = ReadDelayLimits(usual: 0, away: 0)
    }

    @Test("an encoder that reconnects seven times takes over from its silent earlier connection each time")
    func silentConnections() async throws {
        let clock = StillClock()
        try await TestServer.with(clock: clock, Self.withoutPacing) { server in
            let items = ItemRecorder()
            _ = server.server.hub(for: TestServer.host)?.subscribe(items)
            var publishers: [TestPublisher] = []
            // Four that send nothing, then four that go silent for a second.
            for round in 0..<8 {
                let publisher = try await TestPublisher.publish(server.url(TestServer.hostKey))
                #expect(publisher.outcomes.elements == [.ready], "round \(round)")
                publishers.append(publisher)
                guard round >= 4 else { continue }
                let count = items.packets.count
                try await publisher.sendMedia()
                await items.items.wait { $0.count { if case .packet = $0 { true } else { false } } > count }
                clock.forward(milliseconds: 1000)
            }
            #expect(!server.events.elements.contains { if case .flapping = $0 { true } else { false } })
        }
    }

    @Test(
        "a key may publish 32 times in a burst, then once per second; other keys have their own limit"
    )
    func tooOften() async throws {
        try await TestServer.with({ $0.wrongKeyDelay = 0 }) { server in
            let began = TestClock().now()
            for _ in 0..<60 {
                let publisher = try await TestPublisher.publish(server.url(TestServer.hostKey))
                // A refused one is already closed.
                try? await publisher.drop()
            }
            await server.events.wait {
                $0.contains { if case .refused(_, _, _, .limitExceeded?) = $0 { true } else { false } }
            }
            let admitted = server.events.elements.count { if case .publishing = $0 { true } else { false } }
            let seconds = Int((TestClock().now() - began) / 1_000_000_000)
            #expect(admitted <= 33 + seconds, "\(admitted) in \(seconds) s")
            let other = try await TestPublisher.publish(server.url(TestServer.guestKey))
            #expect(other.outcomes.elements == [.ready])
        }
    }

    @Test("with `onDuplicate: reject` a newer encoder gets BadName until the older one disconnects")
    func reject() async throws {
        try await TestServer.with({ $0.onDuplicate = .reject }) { server in
            let older = try await TestPublisher.publish(server.url(TestServer.hostKey))
            let newer = try await TestPublisher.publish(server.url(TestServer.hostKey))
            guard case .failed(.rejected(let status))? = newer.outcomes.elements.first else {
                Issue.record("was admitted")
                return
            }
            #expect(status.code == "NetStream.Publish.BadName")
            let told = await server.events.wait { $0.contains { if case .refused = $0 { true } else { false } } }
            #expect(told.contains { if case .refused(_, _, _, .busyChannel?) = $0 { true } else { false } })
            #expect(older.outcomes.elements == [.ready])
            try await older.drop()
            await server.events.wait { $0.contains { if case .lost = $0 { true } else { false } } }
            let third = try await TestPublisher.publish(server.url(TestServer.hostKey))
            #expect(third.outcomes.elements == [.ready], "the key is free again")
        }
    }

    /// A whole publisher in one piece; right after its request a chunk continues a message that never began.
    private static var unreadableBehindPublish: [UInt8] {
        var bytes: [UInt8] = [3] + [UInt8](repeating: 0, count: 2 * 1536)
        var writer = RTMPChunkWriter()
        let connect = RTMPCommand("connect", transaction: 1, [.object([AMF0Property("app", .string("live"))])])
        let publish = RTMPCommand("publish", transaction: 5, [.null, .string(TestServer.hostKey), .string("live")])
        writer.write(connect.message(chunkStreamID: 3, streamID: 0), header: .full, into: &bytes)
        writer.write(publish.message(chunkStreamID: 8, streamID: 1), header: .full, into: &bytes)
        return bytes + [0xC9]
    }

    @Test("a publisher whose bytes after `publish` are no RTMP is refused and does not become the source's publisher")
    func unreadable() async throws {
        try await TestServer.with({ $0.onDuplicate = .reject }) { server in
            let broken = try await TestPublisher.connect(
                server.url(TestServer.guestKey), prefix: Self.unreadableBehindPublish)
            await broken.outcomes.wait { $0.last == .closed }
            let publisher = try await TestPublisher.publish(server.url(TestServer.hostKey))
            #expect(publisher.outcomes.elements == [.ready])
            let statistics = server.server.statistics[TestServer.host]
            #expect(statistics?.publications == 1 && statistics?.isPublishing == true)
            let starts = server.events.elements.filter { if case .publishing = $0 { true } else { false } }
            #expect(starts.count == 1)
            let refusals = server.events.elements.filter {
                if case .refused(_, _, _, .invalidFormat?) = $0 { true } else { false }
            }
            #expect(refusals.count == 1)
        }
    }

    /// A clock that does not advance, so that no rate limit refills.
    private struct StoppedClock: MonotonicClock {
        func now() -> Int64 { 1_000_000_000 }
    }

    @Test("connections that do not speak RTMP are logged at info level 20 times per address, then at a lower level")
    func scanners() async throws {
        try await TestServer.with(clock: StoppedClock()) { server in
            for _ in 0..<25 {
                let scanner = try await TestPublisher.connect(server.url("x"), prefix: Array("GET".utf8))
                await scanner.outcomes.wait { $0.last == .closed }
            }
            let lines = server.log.elements.filter { $0.contains("connection refused") }
            #expect(lines.count == 25 && lines.filter { $0.hasPrefix("info") }.count == 20)
        }
    }

    @Test("if a publisher's connection closes, its source's readers get an end and the publication is reported as lost")
    func lost() async throws {
        try await TestServer.with { server in
            let items = ItemRecorder()
            _ = server.server.hub(for: TestServer.host)?.subscribe(items)
            let publisher = try await TestPublisher.publish(server.url(TestServer.hostKey))
            try await publisher.sendMedia()
            try await publisher.drop()
            await items.items.wait { if case .end? = $0.last { true } else { false } }
            await server.events.wait { $0.contains(.lost(TestServer.host, reason: "connection closed")) }
            #expect(items.packets.count == 3)
        }
    }

    @Test(
        "a publisher whose video codec is not supported gets an error that names it after a timeout, by default five seconds"
    )
    func unsupported() async throws {
        try await TestServer.with({ $0.unsupportedCodecTimeout = 0 }) { server in
            let publisher = try await TestPublisher.publish(server.url(TestServer.hostKey))
            let hevc = RTMPMediaMessage(
                kind: .video, timestamp: 0, payload: PacketMemory([0x90] + Array("hvc1".utf8) + [1, 2]))
            try await publisher.send(hevc)
            let outcomes = await publisher.outcomes.wait { $0.last == .closed }
            guard case .failed(.rejected(let status)) = outcomes[1] else {
                Issue.record("no status")
                return
            }
            #expect(status.text.contains("hvc1"))
            #expect(IngestConfiguration(listen: "", bindings: []).unsupportedCodecTimeout == 5_000_000_000)
            #expect(server.events.elements.contains(.unsupportedCodec(TestServer.host, codec: "hvc1")))
        }
    }

    @Test("a publisher with H.264 video stays connected although it also sends audio with an unknown codec")
    func partlySupported() async throws {
        try await TestServer.with({ $0.unsupportedCodecTimeout = 0 }) { server in
            let publisher = try await TestPublisher.publish(server.url(TestServer.hostKey))
            try await publisher.sendMedia()
            try await publisher.send(
                RTMPMediaMessage(kind: .audio, timestamp: 40, payload: PacketMemory([0x91] + Array("Xyz1".utf8) + [1])))
            try await publisher.sendMedia(from: 80, configurations: false)
            await server.events.wait { $0.contains(.unsupportedCodec(TestServer.host, codec: "Xyz1")) }
            let items = ItemRecorder()
            _ = server.server.hub(for: TestServer.host)?.subscribe(items)
            try await publisher.sendMedia(from: 160, configurations: false)
            await items.items.wait {
                $0.contains { if case .packet(let packet) = $0 { packet.dts >= 160 } else { false } }
            }
            #expect(publisher.outcomes.elements == [.ready])
        }
    }

    @Test("a publisher that sends no media is closed after the first-media timeout")
    func deadline() async throws {
        try await TestServer.with({ $0.session.firstMediaTimeout = 1_000_000 }) { server in
            let publisher = try await TestPublisher.publish(server.url(TestServer.hostKey))
            await publisher.outcomes.wait { $0.last == .closed }
            await server.events.wait { $0.contains(.lost(TestServer.host, reason: "deadline passed: firstMedia")) }
        }
    }

    @Test("while a reader of a source is full, only that source's publisher is not read; later all its data arrives")
    func backPressure() async throws {
        try await TestServer.with { server in
            let host = try #require(server.server.hub(for: TestServer.host))
            let slow = ItemRecorder()
            let guest = ItemRecorder()
            let token = host.subscribe(slow)
            _ = server.server.hub(for: TestServer.guest)?.subscribe(guest)
            let first = try await TestPublisher.publish(server.url(TestServer.hostKey))
            let second = try await TestPublisher.publish(server.url(TestServer.guestKey))
            host.setFull(true, for: token)
            // When the second publisher's items arrive, the loop has finished, or is in, the turn that started with the
            // pause queued; it handles sockets again only after it.
            try await second.sendMedia()
            await guest.items.wait { $0.count == 5 }
            // This is in the first publisher's socket before the second one sends again.
            try await first.sendMedia(from: 1)
            try await second.sendMedia(from: 50, configurations: false)
            await guest.items.wait { $0.count == 8 }
            #expect(slow.items.elements.isEmpty)
            // More than the sockets can hold, so it can only arrive after reading resumes.
            let large = Tags.unit([0x65]) + [0, 0x0F, 0, 0] + [UInt8](repeating: 0x41, count: 0x0F_0000)
            async let sending: Void = {
                for index in 0..<40 { try await first.send(Tags.video(1, large, at: UInt32(index))) }
            }()
            try await second.sendMedia(from: 100, configurations: false)
            await guest.items.wait { $0.count == 11 }
            #expect(slow.items.elements.isEmpty)
            host.setFull(false, for: token)
            try await sending
            await slow.items.wait { $0.count == 45 }
            #expect(slow.packets.dropFirst(3).map(\.dts) == (0..<40).map { Int64($0) })
        }
    }

    @Test(
        "a connection that unpublishes from a source with full readers continues to be read",
        arguments: [false, true])
    func leavesFullSource(isPipelined: Bool) async throws {
        try await TestServer.with { server in
            let host = try #require(server.server.hub(for: TestServer.host))
            let guest = ItemRecorder()
            _ = server.server.hub(for: TestServer.guest)?.subscribe(guest)
            host.setFull(true, for: host.subscribe(ItemRecorder()))
            var writer = RTMPChunkWriter()
            func bytes(_ command: RTMPCommand, stream: UInt32 = 1) -> [UInt8] {
                var bytes: [UInt8] = []
                writer.write(command.message(chunkStreamID: 8, streamID: stream), header: .full, into: &bytes)
                return bytes
            }
            let app = AMF0Value.object([AMF0Property("app", .string("live"))])
            func publish(_ key: String) -> [UInt8] {
                bytes(RTMPCommand("publish", transaction: 5, [.null, .string(key), .string("live")]))
            }
            let leave = RTMPCommand("FCUnpublish", transaction: 6, [.null, .string(TestServer.hostKey)])
            var begin: [UInt8] = [3] + [UInt8](repeating: 0, count: 2 * 1536)
            begin += bytes(RTMPCommand("connect", transaction: 1, [app]), stream: 0)
            begin += publish(TestServer.hostKey)
            begin += bytes(leave)
            let next = publish(TestServer.guestKey)
            var media: [UInt8] = []
            writer.write(
                RTMPMessage(
                    chunkStreamID: 6, type: .video, streamID: 1, timestamp: 0,
                    payload: Tags.video(0, Tags.record, at: 0).payload),
                header: .full, into: &media)
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connect(host: "127.0.0.1", port: server.port).get()
            try await channel.writeAndFlush(ByteBuffer(bytes: isPipelined ? begin + next : begin)).get()
            await server.events.wait { events in
                events.contains { event in
                    switch event {
                    case .unpublished: !isPipelined
                    case .publishing(let source, _): isPipelined && source == TestServer.guest
                    default: false
                    }
                }
            }
            // Not in the same read.
            try await channel.writeAndFlush(ByteBuffer(bytes: isPipelined ? media : next + media)).get()
            await guest.items.wait { $0.count == 1 }
            try await channel.close().get()
        }
    }

    @Test("an ingest server does not start on a port in use")
    func takenPort() async throws {
        try await TestServer.with { server in
            let port = server.port
            await #expect(throws: MediaError.self) {
                try await TestServer.with({ $0.listen = "127.0.0.1:\(port)" }) { _ in }
            }
        }
    }
}
