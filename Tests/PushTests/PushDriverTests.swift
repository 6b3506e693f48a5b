import Egress
import Glibc
import HTTPProbe
import MediaKernels
import MediaTypes
import NIOCore
import NIOSSL
import PipelineSpec
import Push
import RTMP
import Synchronization
import TestSupport
import Testing

@Suite("RTMP outputs on real sockets, plain and over TLS", .timeLimit(.minutes(2)))
struct PushDriverTests {
    private struct MachineClock: MonotonicClock {
        func now() -> Int64 {
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
        }
    }

    /// The machine's clock, which the test can set forward.
    private final class LeapingClock: MonotonicClock {
        private let ahead = Mutex<Int64>(0)

        func leap(_ nanoseconds: Int64) { self.ahead.withLock { $0 += nanoseconds } }
        func now() -> Int64 { MachineClock().now() + self.ahead.withLock { $0 } }
    }

    /// The outputs' reports.
    private final class Reports: Sendable {
        private let list = Mutex<[PushCore.Event]>([])

        func add(_ event: PushCore.Event) { self.list.withLock { $0.append(event) } }
        var events: [PushCore.Event] { self.list.withLock { $0 } }
        var reasons: [String] {
            self.events.compactMap { if case .failed(_, let reason, _) = $0 { reason } else { nil } }
        }
    }

    /// - Parameter line: The line that a failure names.
    private static func until(line: Int = #line, _ isMet: () -> Bool) async throws {
        try await waitUntil("the condition in line \(line)") { isMet() }
    }

    /// A server, and outputs that are fed one frame, 40 ms of program, per call.
    private final class Bench {
        let server: PushServer
        let outputs: LiveOutputs
        let reports = Reports()
        private let feed: LiveFeed
        private var next: Int64 = 0

        init(
            _ server: PushServer, isSecure: Bool, host: String = "127.0.0.1",
            egress: EgressGate? = nil, clock: any MonotonicClock = MachineClock(),
            _ change: (inout PushSettings) -> Void = { _ in }
        ) throws {
            let url = "\(isSecure ? "rtmps" : "rtmp")://\(host):\(server.port)/live/k3y_of_the_cdn"
            var core = PushCore.Settings(url: try #require(RTMPURL(url, allowsTLS: true)))
            (core.firstRetry, core.longestRetry) = (100_000_000, 100_000_000)
            var settings = PushSettings(outputID: "cdn", rendition: "180p", core: core)
            change(&settings)
            self.server = server
            self.outputs = LiveOutputs(
                [FeedCoreTests.description], makesFiles: false, egress: egress, clock: clock)
            self.feed = try #require(self.outputs.feed(named: "180p"))
            self.feed.configure(FeedCoreTests.record)
            self.feed.configure(CodecParameters(codec: .aac, configuration: [0x11, 0x90]))
            try self.outputs.start([settings]) { [reports] in reports.add($1) }
        }

        /// Sends the next frame; the first of each second is a key frame.
        func send() {
            self.feed.receive(FeedCoreTests.picture(self.next, isKey: self.next % 25 == 0))
            self.next += 1
        }

        /// Sends until `isMet`.
        func run(line: Int = #line, _ isMet: () -> Bool) async throws {
            try await PushDriverTests.until(line: line) {
                self.send()
                return isMet()
            }
        }

        func stop() async {
            await self.outputs.stop(reason: "the room has ended")
            await self.server.stop()
        }

        var status: PushStatus? { self.outputs.statuses.first }
    }

    private static func serverContext(_ folder: TemporaryDirectory) throws -> NIOSSLContext {
        let (certificate, key) = ("\(folder.path)/a.crt", "\(folder.path)/a.key")
        try CertificateMaker.make(certificate: certificate, key: key)
        let chain = try NIOSSLCertificate.fromPEMFile(certificate).map { NIOSSLCertificateSource.certificate($0) }
        let secret = try NIOSSLPrivateKey(file: key, format: .pem)
        return try NIOSSLContext(
            configuration: .makeServerConfiguration(certificateChain: chain, privateKey: .privateKey(secret)))
    }

    private static func clear(_ folder: TemporaryDirectory) {
        for name in ["a.crt", "a.key"] { unlink("\(folder.path)/\(name)") }
        folder.remove()
    }

    @Test("the server gets metadata, headers and media, also after a dropped connection; a stop unpublishes")
    func plain() async throws {
        let bench = try Bench(try await PushServer.start(), isSecure: false)
        try await bench.run { bench.server.seen.media.count > 10 }
        let seen = bench.server.seen
        #expect(seen.keys == ["k3y_of_the_cdn"])
        #expect(seen.properties.contains { $0.name == "width" && $0.value == .number(320) })
        #expect(seen.media.first == [0x17, 0, 0, 0, 0] + FeedCoreTests.record.configuration)
        #expect(seen.media.contains([0xAF, 0, 0x11, 0x90]))
        #expect(seen.media.dropFirst(2).first?.prefix(2) == [0x17, 1], "the first frame is a key frame")

        bench.server.dropAll()
        try await bench.run { bench.server.seen.keys.count == 2 && bench.status?.state == .live }
        #expect(bench.reports.reasons.count == 1)
        #expect(bench.status?.retries == 1 && bench.status?.lastFailure == .unreachable)
        let before = bench.server.seen.media.count
        try await bench.run { bench.server.seen.media.count > before + 5 }
        await bench.outputs.stop(reason: "the room has ended")
        #expect(bench.status?.state == .stopped)
        #expect(bench.reports.events.last == .stopped(reason: "the room has ended"))
        try await Self.until { bench.server.seen.unpublished == 1 }
        await bench.stop()
    }

    @Test("an output whose server's address is not allowed does not connect; after the address is allowed it goes live")
    func egress() async throws {
        let gate = EgressGate(EgressPolicy())
        let bench = try Bench(try await PushServer.start(), isSecure: false, host: "localhost", egress: gate)
        try await bench.run { bench.reports.reasons.count >= 2 }
        #expect(
            bench.reports.reasons.first?.hasSuffix(
                "is at a loopback or private address, which control.egress.allowedHosts does not list") == true,
            "\(bench.reports.reasons)")
        #expect(bench.server.connections == 0)
        gate.policy = EgressPolicy(allowed: ["127.0.0.0/8", "::1/128"].compactMap { EgressEntry($0) })
        try await bench.run { bench.status?.state == .live }
        await bench.stop()
    }

    @Test("publishing over TLS works with a certificate of the configured authority, by IP address and by host name")
    func secure() async throws {
        try CertificateMaker.require()
        for host in ["127.0.0.1", "localhost"] {
            let folder = try TemporaryDirectory()
            defer { Self.clear(folder) }
            let bench = try Bench(try await PushServer.start(Self.serverContext(folder)), isSecure: true, host: host) {
                $0.authorities = "\(folder.path)/a.crt"
            }
            try await bench.run { bench.server.seen.media.count > 10 }
            #expect(bench.server.seen.keys == ["k3y_of_the_cdn"])
            #expect(bench.status?.state == .live && bench.reports.reasons.isEmpty)
            await bench.stop()
        }
    }

    @Test("a server without a trusted certificate gets no stream key, unless the output trusts every certificate")
    func untrusted() async throws {
        try CertificateMaker.require()
        let folder = try TemporaryDirectory()
        defer { Self.clear(folder) }
        let context = try Self.serverContext(folder)
        let wary = try Bench(try await PushServer.start(context), isSecure: true)
        try await wary.run { wary.reports.reasons.count >= 2 }
        #expect(
            wary.reports.reasons.allSatisfy { $0 == "the server's certificate is not signed by a trusted authority" })
        #expect(wary.server.seen.keys.isEmpty && wary.status?.lastFailure == .unreachable)
        await wary.stop()
        let trusting = try Bench(try await PushServer.start(context), isSecure: true) { $0.trustsAnybody = true }
        try await trusting.run { trusting.server.seen.media.count > 5 }
        await trusting.stop()
    }

    @Test("TLS to a plain server, and a plain connection to a TLS server, fail with a reason and are retried")
    func mismatch() async throws {
        try CertificateMaker.require()
        let folder = try TemporaryDirectory()
        defer { Self.clear(folder) }
        let context = try Self.serverContext(folder)
        for isSecure in [true, false] {
            let bench = try Bench(try await PushServer.start(isSecure ? nil : context), isSecure: isSecure) {
                $0.trustsAnybody = true
            }
            try await bench.run { bench.reports.reasons.count >= 2 }
            #expect(bench.server.seen.keys.isEmpty)
            #expect(bench.reports.reasons.allSatisfy { !$0.isEmpty && !$0.contains("k3y_of_the_cdn") })
            await bench.stop()
        }
    }

    @Test("the connection to a server that never answers the TLS handshake is closed after the time limit")
    func muteTLS() async throws {
        let clock = LeapingClock()
        let bench = try Bench(try await PushServer.start(isMute: true), isSecure: true, clock: clock)
        try await bench.run { bench.server.connections == 1 }
        clock.leap(PushCore.agreement)
        try await Self.until { bench.server.seen.closed > 0 && !bench.reports.reasons.isEmpty }
        #expect(bench.reports.reasons.first == "no connection in time")
        await bench.stop()
    }

    @Test("stopping the outputs ends also if a TLS server has stopped reading")
    func deafTLS() async throws {
        try CertificateMaker.require()
        let folder = try TemporaryDirectory()
        defer { Self.clear(folder) }
        let server = try await PushServer.start(Self.serverContext(folder), isDeaf: true)
        let bench = try Bench(server, isSecure: true) { $0.trustsAnybody = true }
        try await bench.run { bench.status?.state == .live }
        let outputs = bench.outputs
        let isOver = Mutex(false)
        async let end: Void = {
            await outputs.stop(reason: "the room has ended")
            isOver.withLock { $0 = true }
        }()
        try await waitUntil("the outputs have stopped") { isOver.withLock { $0 } }
        await end
        await bench.stop()
    }

    @Test("outputs are added, changed and removed while others continue; frames that no output needs are dropped")
    func changes() async throws {
        let (one, two) = (try await PushServer.start(), try await PushServer.start())
        let outputs = LiveOutputs([FeedCoreTests.description], makesFiles: false, clock: MachineClock())
        let feed = try #require(outputs.feed(named: "180p"))
        feed.configure(FeedCoreTests.record)
        var next: Int64 = 0
        func send() {
            feed.receive(FeedCoreTests.picture(next, isKey: next % 25 == 0))
            next += 1
        }
        func settings(_ id: String, _ server: PushServer, key: String) throws -> PushSettings {
            let url = try #require(RTMPURL("rtmp://127.0.0.1:\(server.port)/live/\(key)", allowsTLS: true))
            return PushSettings(outputID: id, rendition: "180p", core: PushCore.Settings(url: url))
        }
        let reports = Reports()
        func change(_ gone: Set<String>, _ settings: [PushSettings], _ order: [String]) throws {
            outputs.change(
                removing: gone, adding: try outputs.prepare(settings), order: order, reason: "the document has changed"
            ) { reports.add($1) }
        }
        func run(line: Int = #line, _ isMet: () -> Bool) async throws {
            try await Self.until(line: line) {
                send()
                return isMet()
            }
        }
        for _ in 0..<30 { send() }
        #expect(!feed.isAwake, "no output needs them")
        try change([], [settings("one", one, key: "k_one")], ["one"])
        #expect(feed.isAwake)
        try await run { one.seen.media.count > 5 }
        #expect(one.seen.media.dropFirst().first?.prefix(2) == [0x17, 1], "the first frame is a key frame")

        try change([], [settings("two", two, key: "k_two")], ["two", "one"])
        try await run { two.seen.media.count > 5 }
        #expect(two.seen.media.dropFirst().first?.prefix(2) == [0x17, 1])
        #expect(outputs.statuses.map(\.outputID) == ["two", "one"])
        // The same server accepts the next key once the last publisher has left.
        try change(["two"], [settings("two", two, key: "k_new")], ["two", "one"])
        try await run { two.seen.keys.count == 2 }
        #expect(two.seen.keys == ["k_two", "k_new"] && two.seen.unpublished == 1 && two.seen.closed == 1)
        #expect(one.connections == 1 && one.seen.unpublished == 0 && outputs.statuses.last?.retries == 0)

        try change(["one"], [], ["two"])
        try await run { one.seen.unpublished == 1 && one.seen.closed == 1 }
        #expect(outputs.statuses.map(\.outputID) == ["two"])
        let before = two.seen.media.count
        try await run { two.seen.media.count > before + 5 }
        #expect(two.connections == 2)
        try change(["two"], [], [])
        #expect(!feed.isAwake && outputs.statuses.isEmpty)
        // The server may see the end before it is reported here.
        let stopped = PushCore.Event.stopped(reason: "the document has changed")
        try await Self.until { two.seen.unpublished == 2 && reports.events.count { $0 == stopped } == 3 }
        #expect(reports.reasons.isEmpty)
        await outputs.stop(reason: "the room has ended")
        try change([], [settings("late", one, key: "k_late")], ["late"])
        #expect(outputs.statuses.isEmpty && !feed.isAwake, "nothing starts after the end")
        await one.stop()
        await two.stop()
    }

    @Test("an output removed right after it was added never connects")
    func overtaken() async throws {
        let server = try await PushServer.start(isMute: true)
        let outputs = LiveOutputs([FeedCoreTests.description], makesFiles: false, clock: MachineClock())
        let feed = try #require(outputs.feed(named: "180p"))
        let url = try #require(RTMPURL("rtmp://127.0.0.1:\(server.port)/live/key", allowsTLS: true))
        let settings = PushSettings(outputID: "cdn", rendition: "180p", core: PushCore.Settings(url: url))
        for gone in [[], ["cdn"], ["cdn"], ["cdn"]] as [Set<String>] {
            outputs.change(
                removing: gone, adding: try outputs.prepare([settings]), order: ["cdn"], reason: "changed"
            ) { _, _ in }
        }
        outputs.change(removing: ["cdn"], adding: [], order: [], reason: "removed") { _, _ in }
        for number in Int64(0)..<50 { feed.receive(FeedCoreTests.picture(number, isKey: number % 25 == 0)) }
        await outputs.stop(reason: "the room has ended")
        #expect(server.connections == 0 && outputs.statuses.isEmpty)
        await server.stop()
    }

    /// A reader that notes what it receives.
    private final class NotingReader: LiveReader {
        private let notes = Mutex<[String]>([])
        var seen: [String] { self.notes.withLock { $0 } }

        func receive(_ tags: [LiveTag], now: Int64) {
            let packets = tags.filter(\.isPacket).map { $0.kind == .audio ? "audio \($0.time)" : "video \($0.time)" }
            self.notes.withLock { $0 += packets }
        }

        func ended() { self.notes.withLock { $0.append("end") } }
    }

    @Test("at the end of a feed, its readers get the audio that waits for video, and then the end")
    func lastAudio() async throws {
        let outputs = LiveOutputs([FeedCoreTests.description], makesFiles: true, clock: MachineClock())
        let feed = try #require(outputs.feed(named: "180p"))
        feed.configure(FeedCoreTests.record)
        feed.configure(CodecParameters(codec: .aac, configuration: [0x11, 0x90]))
        let reader = NotingReader()
        feed.add(reader)
        feed.receive(FeedCoreTests.picture(0, isKey: true))
        for frame in Int64(0)..<3 { feed.receive(FeedCoreTests.audioPacket(frame)) }
        await outputs.stop(reason: "the room has ended")
        #expect(reader.seen == ["video 0", "audio 0", "audio 21", "audio 43", "end"])
    }

    @Test("an output with an unreadable authorities file is refused before anything connects")
    func unreadable() async throws {
        let url = try #require(RTMPURL("rtmps://127.0.0.1/live/key", allowsTLS: true))
        var settings = PushSettings(outputID: "cdn", rendition: "180p", core: PushCore.Settings(url: url))
        settings.authorities = "/nowhere/ca.pem"
        let outputs = LiveOutputs([FeedCoreTests.description], makesFiles: false, clock: MachineClock())
        #expect(throws: MediaError.self) { try outputs.start([settings]) { _, _ in } }
        #expect(outputs.statuses.isEmpty)
        await outputs.stop(reason: "the room has ended")
    }
}
