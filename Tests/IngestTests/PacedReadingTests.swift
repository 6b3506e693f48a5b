import Ingest
import MediaTypes
import RTMP
import Testing

@Suite("Publishers' sockets are read in batches, to save CPU", .serialized)
struct PacedReadingTests {
    /// Large enough for the highest mark.
    private static func large(at time: UInt32) -> RTMPMediaMessage {
        Tags.video(1, Tags.unit([0x65]) + [0, 0x0F, 0, 0] + [UInt8](repeating: 0x41, count: 0x0F_0000), at: time)
    }

    private static func small(at time: UInt32) -> RTMPMediaMessage { Tags.audio(1, [0x21, 0x10], at: time) }

    @Test(
        "a few bytes are read no sooner than half the read delay after the data before them; all data and the end arrive"
    )
    func patience() async throws {
        let clock = ForwardClock()
        try await TestServer.with(clock: clock) { server in
            let recorder = ItemRecorder()
            let hub = try #require(server.server.hub(for: TestServer.host))
            _ = hub.subscribe(recorder)
            let publisher = try await TestPublisher.publish(server.url(TestServer.hostKey))
            try await publisher.sendMedia()
            await recorder.items.wait { $0.count == 5 }
            clock.forward(seconds: 3)
            // With this its rate is known.
            try await publisher.send(Self.large(at: 3_000))
            try await publisher.send(Self.large(at: 3_033))
            await recorder.items.wait { $0.count == 7 }
            for time in stride(from: UInt32(3_040), to: 3_340, by: 100) {
                let before = recorder.packets.count
                try await publisher.send(Self.small(at: time))
                await recorder.items.wait { $0.count > before + 2 }
                // The next one wakes at once, and ends that.
                try await publisher.send(Self.large(at: time + 30))
                await recorder.items.wait { $0.count > before + 3 }
            }
            let packets = recorder.packets
            #expect(packets.map(\.dts) == [0, 0, 33, 3_000, 3_033, 3_040, 3_070, 3_140, 3_170, 3_240, 3_270])
            for index in [5, 7, 9] {
                // At least, since the machine may be busy; an arrival is stamped a little after the read.
                let waited = packets[index].arrival - packets[index - 1].arrival
                #expect(waited >= ReadDelayLimits.usual.usual / 2, "\(waited)")
            }
            // An end of publication is noticed, too.
            try await publisher.finish()
            await server.events.wait { $0.contains { if case .unpublished = $0 { true } else { false } } }
        }
    }

    @Test("without a jitter buffer, each small message of a source arrives although nothing follows it")
    func impatient() async throws {
        let clock = ForwardClock()
        try await TestServer.with(clock: clock, { $0.readPatience[TestServer.host] = ReadDelayLimits(jitterBuffer: 0) })
        {
            server in
            let recorder = ItemRecorder()
            let hub = try #require(server.server.hub(for: TestServer.host))
            _ = hub.subscribe(recorder)
            let publisher = try await TestPublisher.publish(server.url(TestServer.hostKey))
            try await publisher.sendMedia()
            clock.forward(seconds: 3)
            try await publisher.send(Self.large(at: 3_000))
            for time in UInt32(3_001)...3_050 {
                let count = recorder.items.elements.count
                try await publisher.send(Self.small(at: time))
                await recorder.items.wait { $0.count > count }
            }
            await recorder.items.wait { $0.count == 56 }
        }
    }

    @Test(
        "a source that is shown and one that is not give the same packets for the same bytes; arrival times never go back"
    )
    func rhythm() async throws {
        try await TestServer.with { server in
            let (patient, eager) = (ItemRecorder(), ItemRecorder())
            _ = patient.join(patiently: try #require(server.server.hub(for: TestServer.host)))
            _ = try #require(server.server.hub(for: TestServer.guest)).subscribe(eager)
            let publishers = [
                try await TestPublisher.publish(server.url(TestServer.hostKey)),
                try await TestPublisher.publish(server.url(TestServer.guestKey)),
            ]
            for publisher in publishers { try await publisher.sendMedia() }
            for index in 1...200 {
                let time = UInt32(100 + index * 10)
                let size = index % 50 == 0 ? 1_000_000 : index * 7_919 % 60_000
                let length = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: (size + 1) >> $0) }
                let message =
                    index % 3 == 0
                    ? Self.small(at: time)
                    : Tags.video(1, length + [0x41] + [UInt8](repeating: UInt8(index), count: size), at: time)
                for publisher in publishers { try await publisher.send(message) }
            }
            for recorder in [patient, eager] { await recorder.items.wait { $0.count == 205 } }
            let (one, other) = (patient.packets, eager.packets)
            #expect(one.map(\.dts) == other.map(\.dts))
            #expect(one.map(\.kind) == other.map(\.kind))
            #expect(one.map(\.isKey) == other.map(\.isKey))
            #expect(one.map { $0.withBytes { [UInt8]($0) } } == other.map { $0.withBytes { [UInt8]($0) } })
            for recorder in [patient, eager] {
                let arrivals = recorder.packets.map(\.arrival)
                #expect(arrivals == arrivals.sorted())
            }
        }
    }

    @Test("all data of a source that is not shown arrives in order, also after a pause")
    func away() async throws {
        try await TestServer.with { server in
            let recorder = ItemRecorder()
            let hub = try #require(server.server.hub(for: TestServer.host))
            let token = recorder.join(patiently: hub)
            let publisher = try await TestPublisher.publish(server.url(TestServer.hostKey))
            try await publisher.sendMedia()
            await recorder.items.wait { $0.count == 5 }
            // Together they are below the mark.
            for time in UInt32(100)..<130 { try await publisher.send(Self.small(at: time)) }
            await recorder.items.wait { $0.count == 35 }
            // This is far above it.
            try await publisher.send(Self.large(at: 200))
            try await publisher.send(Self.small(at: 210))
            await recorder.items.wait { $0.count == 37 }
            hub.setFull(true, for: token)
            // Another publisher shows what the timer does meanwhile: more than all of its turns.
            let others = ItemRecorder()
            _ = others.join(patiently: try #require(server.server.hub(for: TestServer.guest)))
            let other = try await TestPublisher.publish(server.url(TestServer.guestKey))
            try await publisher.send(Self.small(at: 300))
            try await other.sendMedia()
            await others.items.wait { $0.count == 5 }
            for time in UInt32(40)..<52 {
                let count = others.items.elements.count
                try await other.send(Self.small(at: time))
                await others.items.wait { $0.count > count }
            }
            #expect(recorder.items.elements.count == 37)
            hub.setFull(false, for: token)
            await recorder.items.wait { $0.count == 38 }
            let times: [Int64] = [0, 0, 33] + Array(100..<130) + [200, 210, 300]
            #expect(recorder.packets.map(\.dts) == times)
            try await other.drop()
            // The last packet and the end arrive as well.
            try await publisher.send(Self.small(at: 400))
            try await publisher.drop()
            await recorder.items.wait { if case .end? = $0.last { true } else { false } }
            #expect(recorder.packets.last?.dts == 400)
        }
    }
}
