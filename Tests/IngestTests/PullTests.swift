import Ingest
import MediaKernels
import MediaTypes
import RTMP
import Testing

@Suite("Pull: a source fetched from another RTMP server", .timeLimit(.minutes(1)), .serialized)
struct PullTests {
    static let source = SourceID(uid: "ben")

    static let media: [RTMPMediaMessage] = [
        Tags.video(0, Tags.record, at: 0), Tags.audio(0, [0x11, 0x90], at: 0),
        Tags.video(1, Tags.unit([0x65, 1, 2, 3]), at: 1000), Tags.audio(1, [0x21, 0x10], at: 1000),
        Tags.video(1, Tags.unit([0x41, 4, 5]), at: 1033),
    ]

    /// Pulls from a server with these scripts until `isMet` holds for the events.
    static func run(
        _ scripts: [PlayServer.Script], idleTimeout: Int64 = 90_000_000_000, query: String = "t=1",
        until isMet: @escaping @Sendable ([IngestEvent]) -> Bool
    ) async throws -> (events: [IngestEvent], items: ItemRecorder, requests: [String]) {
        let server = try await PlayServer.start(scripts)
        let events = Recorder<IngestEvent>()
        var settings = PullSettings(
            source: Self.source,
            url: try #require(RTMPURL("rtmp://127.0.0.1:\(server.port)/live/b_secret_key?\(query)")))
        settings.idleTimeout = idleTimeout
        let service = PullService([settings], clock: TestClock()) { events.append($0) }
        let items = ItemRecorder()
        _ = service.hub(for: Self.source)?.subscribe(items)
        service.start()
        await events.wait(until: isMet)
        await service.stop()
        try await server.stop()
        return (events.elements, items, server.requests.elements)
    }

    static func isFailure(_ event: IngestEvent) -> Bool { if case .pullFailed = event { true } else { false } }

    @Test("the room requests the stream with `play`, and its packets reach the source like a publisher's")
    func plays() async throws {
        let (events, items, requests) = try await Self.run([.media(Self.media, then: .holds)]) {
            $0.contains(.firstVideo(Self.source)) && $0.contains(.firstAudio(Self.source))
        }
        #expect(requests == ["b_secret_key?t=1"])
        #expect(SourceHubTests.letters(items.items.elements) == "CDKavE")
        #expect(items.packets.map(\.dts) == [1000, 1000, 1033])
        #expect(items.packets.first.map { $0.memory.bytes(in: $0.range) } == [0, 0, 0, 4, 0x65, 1, 2, 3])
        guard case .pulling(Self.source, let url)? = events.first else {
            Issue.record("\(events)")
            return
        }
        #expect(url.hasSuffix("/live/b_se…"), "\(url)")
    }

    @Test(
        "after a pulled stream ends or is refused, the room connects again",
        arguments: [
            (PlayServer.Script.media(PullTests.media, then: .unpublishes), "UnpublishNotify", true),
            (.media(PullTests.media, then: .closes), "closed", true),
            (.status(level: "error", code: "NetStream.Play.StreamNotFound"), "StreamNotFound", false),
            (.garbage([UInt8](repeating: 0xff, count: 64)), "invalid chunk stream", false),
        ] as [(PlayServer.Script, String, Bool)])
    func again(script: PlayServer.Script, reason: String, wasLive: Bool) async throws {
        let (events, items, requests) = try await Self.run([script, .media(Self.media, then: .holds)]) {
            guard let failure = $0.firstIndex(where: Self.isFailure) else { return false }
            return $0[failure...].contains(.firstVideo(Self.source))
        }
        guard case .pullFailed(_, let said, let retryMs)? = events.first(where: Self.isFailure) else { return }
        #expect(said.contains(reason), "\(said)")
        #expect(!said.contains("b_secret"))
        #expect((500...1000).contains(retryMs))
        #expect(requests.count == 2)
        let letters = SourceHubTests.letters(items.items.elements)
        #expect(letters.hasPrefix(wasLive ? "CDKavECDK" : "CDK"), "\(letters)")
        #expect(events.contains { if case .lost = $0 { true } else { false } } == wasLive)
    }

    @Test("if the server's error text repeats the URL's query, the reported reason has none of it")
    func token() async throws {
        let code = "no b_secret_key?user=anna&token=t0p.hidden: t0p.hidden is over for anna"
        let (events, _, _) = try await Self.run(
            [.status(level: "error", code: code)], query: "user=anna&token=t0p.hidden"
        ) { $0.contains(where: Self.isFailure) }
        guard case .pullFailed(_, let said, _)? = events.first(where: Self.isFailure) else {
            Issue.record("\(events)")
            return
        }
        #expect(said.hasSuffix("no …: … is over for …: "), "\(said)")
    }

    @Test("a pulled RTMP server that sends no media for the idle timeout is disconnected")
    func silence() async throws {
        let (events, _, _) = try await Self.run([.media([], then: .holds)], idleTimeout: 200_000_000) {
            $0.contains(where: Self.isFailure)
        }
        #expect(events.contains(.lost(Self.source, reason: "no media arrived for 200 ms")))
    }

    /// Records when it was read.
    private final class NotingClock: MonotonicClock {
        let times = Recorder<Int64>()
        private let clock = TestClock()

        func now() -> Int64 {
            let now = self.clock.now()
            self.times.append(now)
            return now
        }
    }

    @Test(
        "a server that sends nothing is not disconnected while the source's readers are full; this is checked once per idle timeout"
    )
    func full() async throws {
        let server = try await PlayServer.start([.media([], then: .holds)])
        let clock = NotingClock()
        let events = Recorder<IngestEvent>()
        var settings = PullSettings(
            source: Self.source, url: try #require(RTMPURL("rtmp://127.0.0.1:\(server.port)/live/b")))
        settings.idleTimeout = 50_000_000
        let service = PullService([settings], clock: clock) { events.append($0) }
        let hub = try #require(service.hub(for: Self.source))
        hub.setFull(true, for: hub.subscribe(ItemRecorder()))
        service.start()
        await events.wait { $0.contains { if case .publishing = $0 { true } else { false } } }
        let before = clock.times.elements.count
        let times = await clock.times.wait { $0.count >= before + 8 }.dropFirst(before + 1).prefix(7)
        let span = try #require(times.last) - #require(times.first)
        // Six timeouts, and never less.
        #expect(span >= 250_000_000, "\(span) ns")
        #expect(!events.elements.contains(where: Self.isFailure))
        await service.stop()
        try await server.stop()
    }

    @Test(
        "a server that announces 16 MiB or a chunk size of 0, or sends only commands, is disconnected; no publication begins",
        arguments: [0, 1, 2])
    func hostile(kind: Int) async throws {
        // A message of 16 MiB, a chunk size of zero, a stream of commands instead of media.
        let bytes: [UInt8] =
            switch kind {
            case 0: [6, 0, 0, 0, 0xff, 0xff, 0xff, 9, 1, 0, 0, 0]
            case 1: [2, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0]
            default: (0..<40_000).flatMap { _ in [3, 0, 0, 0, 0, 0, 1, 20, 0, 0, 0, 0, 5] as [UInt8] }
            }
        let (events, items, _) = try await Self.run([.garbage(bytes)]) { $0.contains(where: Self.isFailure) }
        #expect(items.items.elements.isEmpty)
        #expect(!events.contains { if case .publishing = $0 { true } else { false } })
    }
}
