import HTTPListener
import HTTPProbe
import Logging
import MediaKernels
import MediaTypes
import NIOCore
import NIOPosix
import Origin
import Push
import RTMP
import Synchronization
import TestSupport
import Testing

private struct StillClock: MonotonicClock {
    func now() -> Int64 { 0 }
}

@Suite("Renditions over HTTP-FLV", .timeLimit(.minutes(1)))
struct FLVStreamTests {
    private static let second: Int64 = 1_000_000_000

    static func outputs() -> LiveOutputs {
        var description = FeedDescription(name: "180p")
        (description.width, description.height, description.fps) = (320, 180, 25)
        let outputs = LiveOutputs([description], makesFiles: true, clock: StillClock())
        outputs.feed(named: "180p")?.configure(CodecParameters(codec: .h264, configuration: [1, 100, 0, 30, 255]))
        return outputs
    }

    static func picture(_ number: Int, bytes: Int = 8_000) -> CodedPacket {
        CodedPacket(
            kind: .video, memory: PacketMemory([UInt8](repeating: 7, count: bytes)), pts: Int64(number) * 1_000,
            dts: Int64(number) * 1_000, duration: 1_000, timescale: 25_000, isKey: number.isMultiple(of: 25))
    }

    private static func tag(_ number: Int) -> LiveTag {
        let message = RTMPMediaMessage(kind: .video, timestamp: 0, payload: PacketMemory([0x17, 1, 0, 0, 0]))
        var tag = LiveTag(
            .packet(message), time: Int64(number) * 40, kind: .video, isKey: number.isMultiple(of: 25))
        tag.file = FLVFileWriter.tag(tag)
        return tag
    }

    @Test("an HTTP-FLV request after the outputs have stopped gets the FLV header and then the end")
    func late() async throws {
        let outputs = Self.outputs()
        let feed = try #require(outputs.feed(named: "180p"))
        await outputs.stop(reason: "over")
        let stream = FLVStream(feed)
        guard case .bytes = stream.next() else {
            Issue.record("no file header")
            return
        }
        let told = Atomic(0)
        stream.whenMore { told.add(1, ordering: .relaxed) }
        #expect(told.load(ordering: .relaxed) == 1)
        guard case .end = stream.next() else {
            Issue.record("it continues")
            return
        }
        stream.cancel()
        // An encoder that has not stopped yet.
        feed.receive(Self.picture(0))
        #expect(feed.readers == 0)
    }

    @Test("fifty HTTP-FLV viewers get all frames although another viewer does not read")
    func many() async throws {
        let outputs = Self.outputs()
        let feed = try #require(outputs.feed(named: "180p"))
        let server = try await OriginServer.start(
            listen: .tcp(host: "127.0.0.1", port: 0), content: MemoryContent(), allowOrigins: ["*"],
            page: ViewerPage.Options(title: "Room"),
            live: outputs, logger: Logger(label: "test"))
        let probe = HTTPProbe(server.boundAddress)
        let request = "GET /live/180p.flv HTTP/1.1\nHost: a\n\n"
        for number in 0..<30 { feed.receive(Self.picture(number)) }
        try await probe.connect().executeThenClose { _, outbound in
            try await outbound.write(ByteBuffer(string: request.replacing("\n", with: "\r\n")))
            let counts = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<50 { group.addTask { try await probe.bytesUntilClosed(after: request) } }
                try await waitUntil("the feed has 51 readers", { feed.readers }) { $0 >= 51 }
                #expect(server.traffic.streamViewers == 51)
                for number in 30..<80 { feed.receive(Self.picture(number)) }
                await outputs.stop(reason: "over")
                return try await group.reduce(into: []) { $0.append($1) }
            }
            // From key frame 25 on: 55 frames with their headers, after header, script and sequence header.
            let videoBytes = 55 * (8_000 + 5 + 15)
            #expect(Set(counts).count == 1 && counts.count == 50)
            #expect(counts.allSatisfy { (videoBytes..<videoBytes + 2_000).contains($0) }, "\(counts.prefix(3))")
        }
        try await waitUntil("no viewer is left", { server.traffic.streamViewers }) { $0 == 0 }
        await server.stop()
    }

    @Test("an HTTP-FLV viewer gets every frame while an RTMP output of the same rendition hangs")
    func hangingOutput() async throws {
        // Accepts connections, and neither reads nor writes.
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelOption(.autoRead, value: false).bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(server.localAddress?.port)
        let outputs = Self.outputs()
        let feed = try #require(outputs.feed(named: "180p"))
        let url = try #require(RTMPURL("rtmp://127.0.0.1:\(port)/live/hung", allowsTLS: false))
        let settings = PushSettings(outputID: "hung", rendition: "180p", core: PushCore.Settings(url: url))
        try outputs.start([settings]) { _, _ in }
        let stream = FLVStream(feed)
        stream.whenMore {}
        var pieces = 0
        for second in 0..<8 {
            for number in 0..<25 { feed.receive(Self.picture(second * 25 + number)) }
            // The header of the file, the script, the sequence header, and the frames.
            let wanted = 3 + (second + 1) * 25
            try await waitUntil("the frames of second \(second)") {
                pieces += Self.drain(stream).pieces
                return pieces >= wanted
            }
            #expect(pieces == wanted)
        }
        #expect(outputs.statuses.map(\.state) != [.live] && feed.readers == 2)
        stream.cancel()
        await outputs.stop(reason: "over")
        try await server.close()
    }

    @Test("HTTP-FLV needs a signed URL if viewers do, has CORS fields, and is 404 for an unknown rendition")
    func refusals() async throws {
        let outputs = Self.outputs()
        let gate = SignedURLVerifier(room: "r", secrets: ["a secret of some length"]) { 1_000 }
        let server = try await OriginServer.start(
            listen: .tcp(host: "127.0.0.1", port: 0), content: MemoryContent(), allowOrigins: ["*"],
            page: ViewerPage.Options(title: "Room"),
            gate: gate, live: outputs, logger: Logger(label: "test"))
        let probe = HTTPProbe(server.boundAddress)
        let query = gate.query(scope: "/", seconds: 60)
        #expect(try await probe.request("GET /live/180p.flv").status == 403)
        let reply = try await probe.request("HEAD /live/180p.flv?\(query)")
        #expect(reply.status == 200)
        #expect(reply.fields["content-type"] == "video/x-flv" && reply.fields["cache-control"] == "no-store")
        #expect(reply.fields["access-control-allow-origin"] == "*")
        for path in ["/live/720p.flv", "/live/.flv", "/live/a/180p.flv", "/live/180p", "/180p.flv"] {
            #expect(try await probe.request("GET \(path)?\(query)").status == 404, "\(path)")
        }
        await outputs.stop(reason: "over")
        await server.stop()
    }

    private static func drain(_ stream: FLVStream) -> (pieces: Int, isOver: Bool) {
        var pieces = 0
        while true {
            switch stream.next() {
            case .bytes: pieces += 1
            case .later: return (pieces, false)
            case .end, .tooSlow: return (pieces, true)
            }
        }
    }

    @Test(
        "a viewer that falls behind every 30 s loses tags but stays; one that never reads for 20 s of program is disconnected"
    )
    func hopeless() async throws {
        let outputs = Self.outputs()
        let feed = try #require(outputs.feed(named: "180p"))
        let patient = FLVStream(feed)
        #expect(Self.drain(patient) == (1, false), "the file's header")
        // Three overruns of four seconds each, half a minute apart: at most two within a minute.
        for round in 0..<3 {
            for number in 0..<100 {
                patient.receive(
                    [Self.tag(round * 750 + number)],
                    now: Int64(round) * 30 * Self.second + Int64(number) * Self.second / 25)
            }
            let (pieces, isOver) = Self.drain(patient)
            #expect(!isOver && (1...50).contains(pieces))
        }
        let hopeless = FLVStream(feed)
        for number in 0..<500 { hopeless.receive([Self.tag(number)], now: Int64(number) * Self.second / 25) }
        #expect(Self.drain(hopeless) == (1, true), "nothing is queued for it")
        guard case .tooSlow = hopeless.next() else { return #expect(Bool(false), "it gets no reason") }
        await outputs.stop(reason: "over")
    }

    @Test("when the outputs stop, an HTTP-FLV viewer gets the queued tags before the end")
    func ends() async throws {
        let outputs = Self.outputs()
        let stream = FLVStream(try #require(outputs.feed(named: "180p")))
        stream.receive([Self.tag(0), Self.tag(1)], now: 0)
        stream.ended()
        #expect(Self.drain(stream) == (3, true))
        await outputs.stop(reason: "over")
    }
}
