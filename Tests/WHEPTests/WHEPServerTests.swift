import Logging
import MediaTypes
import NIOCore
import NIOPosix
import PipelineSpec
import Synchronization
import Testing
import WHEP
import WebRTC

/// A clock that stands until it is advanced.
private final class StepClock: MonotonicClock {
    private let time = Atomic<Int64>(1_000_000_000)

    func now() -> Int64 { self.time.load(ordering: .relaxed) }
    func advance(by duration: Int64) { self.time.wrappingAdd(duration, ordering: .relaxed) }
}

/// Passes every message on with its metadata, as one line.
private struct LineLogHandler: LogHandler {
    let line: @Sendable (String) -> Void
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    init(line: @escaping @Sendable (String) -> Void) { self.line = line }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { self.metadata[key] }
        set { self.metadata[key] = newValue }
    }

    func log(event: LogEvent) { self.line("\(event.message) \(event.metadata ?? [:])") }
}

@Suite("WHEP server over loopback", .timeLimit(.minutes(2)))
struct WHEPServerTests {
    /// A server whose feed has frames up to some number.
    static func start(
        clock: any MonotonicClock = SystemClock(), change: (inout WHEPSettings) -> Void = { _ in },
        setDemand: @escaping @Sendable (Bool) -> Void = { _ in }, log: (@Sendable (String) -> Void)? = nil
    ) async throws -> (server: WHEPServer, feed: WHEPFeed) {
        let feed = WHEPFeed(name: "720p", hasVideo: true, hasAudio: true, setDemand: setDemand)
        feed.configure(TestProgram.configuration)
        var settings = WHEPSettings(udp: "127.0.0.1:0", rendition: "720p")
        change(&settings)
        let server = try await WHEPServer.start(
            settings, feeds: [feed], clock: clock, wallClock: { 1_700_000_000_000_000_000 },
            logger: Logger(label: "test") { _ in
                log.map { LineLogHandler(line: $0) } ?? SwiftLogNoOpLogHandler() as any LogHandler
            })
        return (server, feed)
    }

    static func reply(_ server: WHEPServer, _ request: WHIPRequest, client: IPAddress? = nil) async -> WHIPReply {
        await withCheckedContinuation { continuation in
            server.respond(to: request, client: client) { continuation.resume(returning: $0) }
        }
    }

    static func post(
        _ server: WHEPServer, _ path: String = "/whep", offer: String? = nil, client: IPAddress? = nil
    ) async throws -> WHIPReply {
        let offer = try offer ?? TestViewer().offer()
        return await Self.reply(
            server, WHIPRequest(method: "POST", path: path, contentType: "application/sdp", body: Array(offer.utf8)),
            client: client)
    }

    @Test("a viewer POSTs, connects, gets video and audio, and is disconnected by DELETE")
    func wholeSession() async throws {
        let demands = Mutex<[Bool]>([])
        let (server, feed) = try await Self.start(setDemand: { isNeeded in demands.withLock { $0.append(isNeeded) } })
        for number in 0..<20 as Range<Int64> { feed.receive(TestProgram.frame(number)) }
        #expect(!feed.isAwake)
        let created = try await Self.post(server)
        try #require(created.status == 201, "\(created.body)")
        #expect(feed.isAwake && demands.withLock { $0 } == [true])
        let place = try #require(created[name: "location"])
        #expect(WHEPServer.isPath(place) && !WHEPServer.isEndpoint(place))
        let viewer = try await LoopbackViewer(answer: created.body)
        try await viewer.check()
        // The cached group is complete before a new frame comes.
        await viewer.until { frames, _, _ in frames >= 19 }
        for number in 20..<40 as Range<Int64> {
            feed.receive(TestProgram.frame(number))
            feed.receiveAudio(TestProgram.audioPacket(number))
        }
        await viewer.until { frames, audioPackets, _ in frames >= 39 && audioPackets >= 19 }
        let numbers = try await viewer.run { $0.frames.map(\.number) }
        #expect(numbers == Array(0..<Int64(numbers.count)))
        #expect(try await viewer.run { $0.forged } == 0)
        let deleted = await Self.reply(server, WHIPRequest(method: "DELETE", path: place))
        #expect(deleted.status == 200)
        await viewer.until { _, _, isClosed in isClosed }
        #expect(await Self.reply(server, WHIPRequest(method: "DELETE", path: place)).status == 404)
        await server.stop()
        let statistics = server.statistics
        #expect(statistics.sessions == 1 && statistics.viewers == 0 && statistics.packets > 80)
        #expect(!feed.isAwake && demands.withLock { $0 } == [true, false])
        try await viewer.leave()
    }

    @Test("frames of 40 kB arrive whole at a viewer")
    func largeFrames() async throws {
        let (server, feed) = try await Self.start()
        feed.receive(TestProgram.frame(0))
        let viewer = try await LoopbackViewer(answer: try await Self.post(server).body)
        try await viewer.check()
        feed.receive(TestProgram.frame(1))
        await viewer.until { frames, _, _ in frames >= 1 }
        for number in 2..<12 as Range<Int64> { feed.receive(TestProgram.frame(number, size: 40_000)) }
        await viewer.until { frames, _, _ in frames >= 11 }
        #expect(try await viewer.run { $0.frames.map(\.number) }.prefix(11) == Array(0..<11)[...])
        await server.stop()
        await viewer.until { _, _, isClosed in isClosed }
        try await viewer.leave()
    }

    @Test(
        "POST gets 409 before the program is live, 404 for an unknown rendition and after the end, 422 without H264, 503 when full"
    )
    func refusals() async throws {
        let (server, feed) = try await Self.start { $0.maxViewers = 1 }
        let early = try await Self.post(server)
        #expect(early.status == 409 && early[name: "retry-after"] == "1")
        feed.receive(TestProgram.frame(0))
        #expect(try await Self.post(server, "/whep/other").status == 404)
        let other = try await Self.post(server, offer: TestViewer().offer(video: "x=1", encoding: "VP8/90000"))
        #expect(other.status == 422 && other.body.contains("noCommonCodec"))
        #expect(try await Self.post(server, offer: "nonsense").status == 400)
        #expect(try await Self.post(server, "/whep/720p").status == 201)
        let full = try await Self.post(server)
        #expect(full.status == 503 && full[name: "retry-after"] == "5")
        feed.end()
        #expect(try await Self.post(server).status == 404)
        await server.stop()
        await server.stop()
        #expect(try await Self.post(server).status == 404)
        #expect(server.statistics.refused == 6)
    }

    @Test(
        "if the server is full, a session whose viewer has not connected for more than 2 s ends in favor of a new one")
    func crowdedOut() async throws {
        let clock = StepClock()
        let (server, feed) = try await Self.start(clock: clock) { $0.maxViewers = 2 }
        feed.receive(TestProgram.frame(0))
        let first = try await Self.post(server)
        clock.advance(by: ms(1_500))
        #expect(try await Self.post(server).status == 201)
        #expect(try await Self.post(server).status == 503)
        clock.advance(by: ms(1_000))
        #expect(try await Self.post(server).status == 201)
        #expect(try await Self.post(server).status == 503)
        let place = try #require(first[name: "location"])
        #expect(await Self.reply(server, WHIPRequest(method: "DELETE", path: place)).status == 404)
        await server.stop()
    }

    @Test("of 200 WHEP offers whose viewers never connect, the first 50 get the 50 places, and the others 503")
    func neverCame() async throws {
        let (server, feed) = try await Self.start(clock: StepClock()) { $0.maxViewers = 50 }
        feed.receive(TestProgram.frame(0))
        var places: [String] = []
        var statuses: [Int] = []
        for number in 0..<200 {
            let client = IPAddress("10.\(number).0.1")
            let reply = try await Self.post(server, client: client)
            statuses.append(reply.status)
            if let place = reply[name: "location"] { places.append(place) }
        }
        #expect(statuses.prefix(50).allSatisfy { $0 == 201 } && statuses.dropFirst(50).allSatisfy { $0 == 503 })
        #expect(Set(places).count == 50)
        await server.stop()
    }

    @Test("the WHEP server logs no user name fragment, password or session id")
    func secrets() async throws {
        let lines = Mutex<[String]>([])
        let (server, feed) = try await Self.start(
            log: { line in lines.withLock { $0.append(line) } })
        feed.receive(TestProgram.frame(0))
        let offer = try TestViewer().offer()
        let (created, other) = (try await Self.post(server, offer: offer), try await Self.post(server))
        let viewer = try await LoopbackViewer(answer: created.body)
        try await viewer.check()
        feed.receive(TestProgram.frame(1))
        await viewer.until { frames, _, _ in frames >= 1 }
        let ids = [created, other].map { String(($0[name: "location"] ?? "").split(separator: "/").last ?? "") }
        try #require(ids.allSatisfy { $0.count == 32 } && ids[0] != ids[1])
        for id in ids + [String(repeating: "0", count: 32)] {
            _ = await Self.reply(server, WHIPRequest(method: "DELETE", path: "/whep/session/\(id)"))
        }
        await viewer.until { _, _, isClosed in isClosed }
        await server.stop()
        let names = ["a=ice-ufrag:", "a=ice-pwd:"]
        let secrets = (offer + created.body + other.body).split(whereSeparator: \.isNewline).compactMap { line in
            names.first { line.hasPrefix($0) }.map { String(line.dropFirst($0.count)) }
        }
        // "peer" is the fragment of the test's offer, and a word.
        let logged = lines.withLock { $0 }
        try #require(secrets.count >= 6 && logged.count >= 3, "\(logged)")
        for secret in secrets + ids where secret != "peer" {
            #expect(!logged.contains { $0.contains(secret) }, "\(secret)")
        }
    }

    @Test("a flood of WHEP requests from one address gets 429, but none of the first 60 does")
    func flood() async throws {
        // The clock stands, so that the limit does not refill.
        let (server, feed) = try await Self.start(clock: StepClock())
        feed.receive(TestProgram.frame(0))
        var statuses: [Int] = []
        for _ in 0..<80 { statuses.append(try await Self.post(server, offer: "nonsense").status) }
        #expect(statuses.prefix(60).allSatisfy { $0 == 400 } && statuses.contains(429))
        await server.stop()
    }

    @Test(
        "a server with a wildcard address but no public addresses, a malformed address or a public host name does not start"
    )
    func addresses() async throws {
        await #expect(throws: MediaError.self) { _ = try await Self.start { $0.udp = "0.0.0.0:0" } }
        await #expect(throws: MediaError.self) { _ = try await Self.start { $0.udp = "nonsense" } }
        await #expect(throws: MediaError.self) { _ = try await Self.start { $0.publicAddresses = ["example.net"] } }
        let (server, feed) = try await Self.start {
            ($0.udp, $0.publicAddresses) = ("0.0.0.0:0", ["192.0.2.7", "2001:db8::7"])
        }
        feed.receive(TestProgram.frame(0))
        let answer = try await Self.post(server).body
        #expect(answer.contains(" 192.0.2.7 ") && answer.contains(" 2001:db8::7 ") && !answer.contains(" 0.0.0.0 "))
        await server.stop()
    }
}
