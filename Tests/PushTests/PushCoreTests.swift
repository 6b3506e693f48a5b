import MediaKernels
import MediaTypes
import Push
import RTMP
import Testing

/// An output and a simulated server: the test decides what the kernel accepts and what the server reads.
private final class Line {
    static let second: Int64 = 1_000_000_000

    var core: PushCore
    var server: RTMPServerSession
    var now: Int64 = 0
    /// Whether the server's program reads what the kernel has accepted.
    var reads = true
    /// Whether the kernel accepts what is written.
    var flushes = true
    var decision = PublishDecision.accept
    private(set) var events: [PushCore.Event] = []
    private(set) var connects: [RTMPURL] = []
    private(set) var received: [RTMPMediaMessage] = []
    private(set) var unpublished = 0
    private(set) var closes = 0
    private(set) var unflushed = 0
    private(set) var backlogs = 0
    var backlog: [LiveTag] = []

    init(_ text: String = "rtmp://cdn/live/s3cretkey?sig=abcdef", stall: Int64 = 4, window: UInt32 = 64 << 10) throws {
        var settings = PushCore.Settings(url: try #require(RTMPURL(text, allowsTLS: true)))
        settings.stallTimeout = stall * Self.second
        settings.acknowledgementWindow = window
        self.core = PushCore(settings) { 0 }
        self.server = Self.server()
    }

    static func server() -> RTMPServerSession {
        RTMPServerSession(now: 0, random: [UInt8](repeating: 0xAB, count: 1528))
    }

    func perform(_ actions: [PushCore.Action]) {
        for action in actions {
            switch action {
            case .connect(let url):
                self.connects.append(url)
                self.server = Self.server()
                self.received = []
                self.unflushed = 0
            case .send(let bytes):
                if self.flushes {
                    self.perform(self.core.flushed(bytes.count, now: self.now))
                } else {
                    self.unflushed += bytes.count
                }
                if self.reads { self.serve(self.server.receive(bytes.span, now: self.now)) }
            case .begin:
                self.backlogs += 1
                for tag in self.backlog { self.perform(self.core.push(tag, now: self.now)) }
            case .finish, .close: self.closes += 1
            case .report(let event): self.events.append(event)
            }
        }
    }

    private func serve(_ actions: [RTMPServerAction]) {
        for action in actions {
            switch action {
            case .send(let bytes): self.answer(bytes)
            case .publishRequested(let request):
                self.serve(self.server.decide(self.decision, on: request.id, now: self.now))
            case .message(let media): self.received.append(media)
            case .unpublished: self.unpublished += 1
            case .metadata, .wallClock, .data, .close: break
            }
        }
    }

    /// Lets the kernel accept up to `count` of the pending bytes.
    func take(_ count: Int) {
        let count = min(self.unflushed, count)
        self.unflushed -= count
        self.perform(self.core.flushed(count, now: self.now))
    }

    func answer(_ bytes: [UInt8]) { self.perform(self.core.receive(bytes.span, now: self.now)) }

    func connected() { self.perform(self.core.connected(now: self.now)) }

    /// Sends frames of 40 ms, a key frame every 25, with a clock tick each second.
    func frames(_ range: Range<Int>, bytes: Int = 1_000) {
        for number in range {
            self.now = Int64(number) * Self.second / 25
            self.perform(self.core.tick(now: self.now))
            self.perform(self.core.push(Self.picture(number, bytes: bytes), now: self.now))
        }
    }

    static func picture(_ number: Int, bytes: Int = 1_000) -> LiveTag {
        let isKey = number.isMultiple(of: 25)
        let body =
            [isKey ? 0x17 : 0x27, 1, 0, 0, 0] + [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: bytes)
        let message = RTMPMediaMessage(kind: .video, timestamp: 0, payload: PacketMemory(body))
        return LiveTag(.packet(message), time: Int64(number) * 40, kind: .video, isKey: isKey)
    }

    static let head: [LiveTag] = [
        LiveTag(.metadata([AMF0Property("width", .number(16))]), time: 0),
        LiveTag(
            .configuration(
                RTMPMediaMessage(kind: .video, timestamp: 0, payload: PacketMemory([0x17, 0, 0, 0, 0, 1]))), time: 0,
            kind: .video),
    ]

    /// Runs up to the first frames.
    func goLive() {
        self.backlog = Self.head
        self.perform(self.core.push(Self.picture(0), now: self.now))
        self.connected()
    }
}

@Suite("RTMP output: connection, queue, stalls, redirects and retries, without sockets")
struct PushCoreTests {
    static let second: Int64 = 1_000_000_000

    @Test("an RTMP output connects at the first packet, then sends sequence headers, a key frame and the rest in order")
    func begins() throws {
        let line = try Line()
        #expect(line.core.state == .waiting)
        line.goLive()
        #expect(line.core.state == .live && line.backlogs == 1)
        line.frames(10..<60)
        #expect(line.events == [.connecting, .live])
        #expect(line.received.first?.payload.byte(at: 1) == 0, "the sequence header is first")
        #expect(line.received.dropFirst().first?.payload.byte(at: 0) == 0x17, "then a key frame")
        #expect(line.received.count == 1 + 35, "frames 25 to 59")
        let times = line.received.map(\.timestamp)
        #expect(times == times.sorted() && times.last == 59 * 40)
        #expect(line.core.dropped == 15)
    }

    @Test("a server that accepts the connection and is silent is detected within six seconds and retried")
    func hangsAtOnce() throws {
        let line = try Line()
        line.perform(line.core.push(Line.picture(0), now: 0))
        line.reads = false
        line.connected()
        for quarter in 1...24 where line.core.state == .connecting {
            line.now = Int64(quarter) * Self.second / 4
            line.perform(line.core.tick(now: line.now))
        }
        #expect(line.now <= 6 * Self.second)
        guard case .failed(.wedged, let reason, let retry)? = line.events.last else {
            Issue.record("\(line.events)")
            return
        }
        #expect(reason.contains("did not accept") && (500...1_000).contains(retry))
        line.reads = true
        line.now += Int64(retry) * 1_000_000
        line.backlog = Line.head
        line.perform(line.core.tick(now: line.now))
        #expect(line.connects.count == 2)
        line.connected()
        #expect(line.core.state == .live && line.core.retries == 1, "it recovers without help")
    }

    @Test(
        "a server that stops acknowledging while its kernel accepts bytes is given up within 6 s",
        arguments: [0, 3])
    func programHangs(after seconds: Int) throws {
        let line = try Line(window: 64 << 10)
        line.goLive()
        // 200 kB a second.
        line.frames(0..<(50 + 25 * seconds), bytes: 8_000)
        #expect(line.core.acknowledged.map { $0 > 200_000 } == true, "\(String(describing: line.core.acknowledged))")
        line.reads = false
        let hung = line.now
        var number = 50 + 25 * seconds
        while line.core.state == .live, number < 1_000 {
            line.frames(number..<number + 1, bytes: 8_000)
            number += 1
        }
        guard case .failed(.wedged, "the server acknowledges no data", _)? = line.events.last else {
            Issue.record("\(line.events)")
            return
        }
        #expect(line.now - hung <= 6 * Self.second, "\((line.now - hung) / 1_000_000) ms")
    }

    @Test("a server that reads nothing is given up within 5 s after its socket buffer is full")
    func takesNothing() throws {
        let line = try Line()
        line.goLive()
        line.frames(0..<30)
        line.flushes = false
        line.reads = false
        let stuck = line.now
        var number = 30
        while line.core.state == .live, number < 1_000 {
            line.frames(number..<number + 1)
            number += 1
        }
        #expect(line.now - stuck <= 5 * Self.second)
        #expect(line.unflushed <= 64 << 10 + 1_100, "the rest is queued where it can be dropped")
        guard case .failed(.wedged, "the server reads no data", _)? = line.events.last else {
            Issue.record("\(line.events)")
            return
        }
        #expect(line.core.queued == 0 && line.core.dropped > 0, "nothing is queued for a server that is down")
    }

    @Test("for a slow server whole GOPs are dropped, at most three seconds queue up, and the connection stays open")
    func slow() throws {
        let line = try Line()
        line.goLive()
        line.frames(0..<25)
        line.flushes = false
        for number in 25..<500 {
            line.frames(number..<number + 1, bytes: 8_000)
            // A third of what arrives.
            line.take(2_700)
            #expect(line.core.queued <= 3_100)
        }
        #expect(line.core.state == .live, "\(line.events)")
        #expect(line.core.dropped > 100)
        // A key frame after each gap.
        let shown = line.received.filter { $0.payload.byte(at: 1) == 1 }
        for (before, after) in zip(shown, shown.dropFirst()) where after.timestamp - before.timestamp != 40 {
            #expect(after.payload.byte(at: 0) == 0x17, "\(before.timestamp) \(after.timestamp)")
        }
    }

    @Test("after a connection is lost in mid-GOP, the new one gets headers and a key frame; timestamps continue")
    func reconnects() throws {
        let line = try Line()
        line.goLive()
        line.frames(0..<40)
        let last = try #require(line.received.last?.timestamp)
        line.perform(line.core.disconnected("reset by peer", now: line.now))
        #expect(line.events.last == .failed(.unreachable, reason: "reset by peer", retryMs: 500))
        // The feed's backlog starts with a key frame that was already sent.
        line.backlog = Line.head + (25..<55).map { Line.picture($0) }
        line.now += Self.second / 2
        line.perform(line.core.tick(now: line.now))
        line.connected()
        #expect(line.received.filter { $0.payload.byte(at: 1) == 1 }.map(\.timestamp) == (50..<55).map { $0 * 40 })
        #expect(line.received.first?.payload.byte(at: 1) == 0)
        #expect(last == 39 * 40)
    }

    @Test("timestamps sent to the server start at 0 and are exact also after 2³² milliseconds of room time")
    func times() throws {
        let line = try Line()
        let far: Int64 = 5_000_000_000
        line.backlog = Line.head.map { tag in
            var tag = tag
            tag.time = far
            return tag
        }
        var tag = Line.picture(25)
        tag.time = far
        line.perform(line.core.push(tag, now: 0))
        line.connected()
        for index in 0..<3 {
            tag.time = far + Int64(index) * 40
            line.perform(line.core.push(tag, now: 0))
        }
        #expect(line.received.map(\.timestamp) == [0, 0, 40, 80])
    }

    @Test("if the server refuses to publish, the reason has its status code and not the stream key")
    func refused() throws {
        let line = try Line()
        line.decision = .deny(.denied)
        line.goLive()
        guard case .failed(.refused, let reason, _)? = line.events.last else {
            Issue.record("\(line.events)")
            return
        }
        #expect(reason.contains("NetStream.Publish"))
        #expect(!reason.contains("s3cretkey") && !reason.contains("abcdef"))
        #expect(line.core.lastFailure == .refused)
    }

    @Test(
        "with the lowest random value, an output's retry delays double from 0.5 s to 15 s, and start over after a stable connection"
    )
    func backoff() throws {
        let line = try Line()
        var waits: [Int] = []
        line.perform(line.core.push(Line.picture(0), now: 0))
        for _ in 0..<8 {
            line.perform(line.core.disconnected("refused", now: line.now))
            guard case .failed(_, _, let retry)? = line.events.last else {
                Issue.record("\(line.events)")
                return
            }
            waits.append(retry)
            line.now += 30 * Self.second
            line.perform(line.core.tick(now: line.now))
        }
        #expect(waits == [500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000])
        line.backlog = Line.head
        line.connected()
        line.now += 11 * Self.second
        line.perform(line.core.disconnected("gone", now: line.now))
        #expect(line.events.last == .failed(.unreachable, reason: "gone", retryMs: 500))
    }

    /// The handshake, and an `_error` or `onStatus` in answer to the client's first command.
    private static func redirect(_ line: Line, to place: String, name: String = "_error") {
        var writer = RTMPChunkWriter()
        var bytes = [UInt8](repeating: 3, count: 1) + [UInt8](repeating: 0, count: 3072)
        let information = AMF0Value.object([
            AMF0Property("level", .string("error")), AMF0Property("code", .string("NetConnection.Connect.Rejected")),
            AMF0Property("description", .string("302 s3cretkey")),
            AMF0Property(
                "ex", .object([AMF0Property("code", .number(302)), AMF0Property("redirect", .string(place))])),
        ])
        let payload = AMF0Writer.bytes([.string(name), .number(name == "_error" ? 1 : 0), .null, information])
        writer.write(
            RTMPMessage(
                chunkStreamID: 3, type: .commandAMF0, streamID: 0, timestamp: 0, payload: PacketMemory(payload)),
            into: &bytes)
        line.answer(bytes)
    }

    @Test(
        "a redirect is followed at once with the same key, three times at most", arguments: ["_error", "onStatus"])
    func redirected(name: String) throws {
        let line = try Line()
        line.reads = false
        line.perform(line.core.push(Line.picture(0), now: 0))
        for _ in 0..<4 {
            line.connected()
            Self.redirect(line, to: "rtmp://edge:1936/other", name: name)
        }
        #expect(line.connects.map(\.host) == ["cdn", "edge", "edge", "edge"])
        #expect(line.connects.last?.app == "other" && line.connects.last?.streamName == "s3cretkey?sig=abcdef")
        guard case .failed(.refused, let reason, _)? = line.events.last else {
            Issue.record("\(line.events)")
            return
        }
        #expect(!reason.contains("s3cretkey"))
        line.now += Self.second
        line.perform(line.core.tick(now: line.now))
        #expect(line.connects.last?.host == "cdn", "after a failure it starts at the configured server")
    }

    /// The message of a server that is about to restart.
    private static func askToReconnect(_ line: Line) {
        var writer = RTMPChunkWriter()
        // As the server has announced.
        writer.chunkSize = RTMPServerConfiguration().chunkSize
        var bytes: [UInt8] = []
        let information = AMF0Value.object([
            AMF0Property("level", .string("status")),
            AMF0Property("code", .string(RTMPClientStatus.reconnectRequest)),
            AMF0Property("description", .string("a newer server is there")),
        ])
        let payload = AMF0Writer.bytes([.string("onStatus"), .number(0), .null, information])
        writer.write(
            RTMPMessage(
                chunkStreamID: 3, type: .commandAMF0, streamID: 0, timestamp: 0, payload: PacketMemory(payload)),
            into: &bytes)
        line.answer(bytes)
    }

    @Test(
        "a server's reconnect requests are followed each time if connections were stable in between, otherwise at most three times"
    )
    func renewed() throws {
        for (held, connects) in [(PushCore.steady, 7), (0, 4)] {
            let line = try Line()
            line.goLive()
            for _ in 0..<6 where line.core.state == .live {
                line.now += held
                Self.askToReconnect(line)
                line.connected()
            }
            #expect(line.connects.count == connects && line.connects.allSatisfy { $0.host == "cdn" })
            #expect(line.core.state == (held > 0 ? .live : .failed) && line.core.retries == 0)
        }
    }

    @Test("a server's error text is shown without any part of the URL's secrets, however often it repeats them")
    func secrets() throws {
        let token = (0..<90).map { "part\($0)-of-it" }.joined(separator: ".")
        let url = try #require(RTMPURL("rtmp://cdn/live/s3cretkey?token=\(token)"))
        let secrets = URLSecrets(url)
        for count in 1...4 {
            let text = "refused: " + (0..<count).map { "\($0) token=\(token)" }.joined(separator: ", ")
            let shown = secrets.presentable(text)
            #expect(shown.hasPrefix("refused: 0 token=…") && !shown.contains("of-it"), "\(count): \(shown)")
        }
        #expect(secrets.presentable("no such\nstream s3cretkey?token=\(token)") == "no suchstream …")
        #expect(secrets.presentable(String(repeating: "x", count: 5_000)).count == 200)
    }

    @Test("secrets of the output's own URL and of the last eight redirect URLs are hidden; older URLs are forgotten")
    func manyServers() throws {
        let own = try #require(RTMPURL("rtmp://cdn/live/s3cretkey"))
        func other(_ number: Int) throws -> RTMPURL {
            try #require(RTMPURL("rtmp://edge/live/other\(number)key?token=token\(number)"))
        }
        var (secrets, short) = (URLSecrets(own), URLSecrets(own))
        for number in 0..<1_000 { secrets.add(try other(number)) }
        for number in 992..<1_000 { short.add(try other(number)) }
        #expect(secrets == short)
        #expect(secrets.presentable("no other999key, token999 or s3cretkey") == "no …, … or …")
    }

    @Test(
        "an rtmps output does not follow a redirect to rtmp, http or an invalid URL",
        arguments: ["rtmp://edge/live", "http://edge/live", "", "rtmps://"])
    func noDowngrade(place: String) throws {
        let line = try Line("rtmps://cdn/live/s3cretkey")
        line.reads = false
        line.perform(line.core.push(Line.picture(0), now: 0))
        line.connected()
        Self.redirect(line, to: place)
        #expect(line.connects.count == 1 && line.core.state == .failed)
    }

    @Test("when a live output stops, the stream is unpublished and the connection closed, once")
    func ends() throws {
        let line = try Line()
        line.goLive()
        line.frames(0..<30)
        line.perform(line.core.stop(reason: "over", now: line.now))
        #expect(line.received.count == 31 && line.unpublished == 1 && line.closes == 1)
        #expect(line.events.last == .stopped(reason: "over"))
        line.perform(line.core.stop(reason: "again", now: line.now))
        line.perform(line.core.push(Line.picture(50), now: line.now))
        #expect(line.events.count == 3, "nothing after the end")
    }

    @Test("a server that answers with HTTP is reported as a failure")
    func garbage() throws {
        let line = try Line()
        line.perform(line.core.push(Line.picture(0), now: 0))
        line.reads = false
        line.connected()
        line.answer(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))
        guard case .failed(.unreachable, _, _)? = line.events.last else {
            Issue.record("\(line.events)")
            return
        }
    }
}

@Suite("Acknowledgements that an RTMP server sends: RTMP 1.0 §5.4.3")
struct AckLedgerTests {
    @Test(
        "acknowledged bytes are counted past 2³², also for servers that wrap at 0xF0000000",
        arguments: [4_294_967_296, 0xF000_0000])
    func wraps(modulus: UInt64) {
        var ledger = AcknowledgementTracker(window: 1 << 20)
        var total: UInt64 = 0
        for step in 1...13_000 {
            total += 1 << 20
            ledger.sent(total, now: Int64(step))
            ledger.acknowledge(UInt32(truncatingIfNeeded: total % modulus), sent: total, now: Int64(step))
        }
        #expect(total > 3 * (1 << 32))
        #expect(ledger.acknowledged == total)
        #expect(ledger.overdue(.max / 2) == nil)
    }

    @Test(
        "acknowledgements are overdue after twice the server's usual interval; a server that never sends any never is")
    func overdue() {
        var ledger = AcknowledgementTracker(window: 1_000)
        ledger.sent(1_000_000, now: 1)
        #expect(ledger.overdue(100) == nil && !ledger.isKept)
        ledger.acknowledge(1_000_000, sent: 1_000_000, now: 2)
        #expect(ledger.allowance == 2_000_000)
        ledger.sent(2_999_999, now: 3)
        #expect(ledger.overdue(100) == nil)
        ledger.sent(3_000_000, now: 5)
        ledger.sent(4_000_000, now: 9)
        #expect(ledger.overdue(105) == 100)
        ledger.acknowledge(4_000_000, sent: 4_000_000, now: 106)
        #expect(ledger.overdue(200) == nil)
    }

    @Test("an acknowledgement beyond the bytes sent, or lower than the last one, is limited to the valid range")
    func lies() {
        var ledger = AcknowledgementTracker(window: 1_000)
        ledger.acknowledge(.max, sent: 5_000, now: 1)
        #expect(ledger.acknowledged == 5_000)
        for sequence in [0, 1, 4_999, UInt32.max, 0x8000_0000] {
            ledger.acknowledge(sequence, sent: 6_000, now: 2)
            #expect((5_000...6_000).contains(ledger.acknowledged))
        }
    }
}
