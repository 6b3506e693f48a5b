import MediaTypes
import Testing
import WHEP

@Suite("Packets of a rendition for WebRTC viewers")
struct RenditionStreamTests {
    private static func stream() -> RenditionStream {
        let stream = RenditionStream(name: "720p", clock: ProgramClock(now: 0, wallClock: 0))
        stream.configure(TestProgram.configuration)
        return stream
    }

    @Test("a key frame gets its parameter sets, and no frame has delimiters or SEI", arguments: [false, true])
    func units(hasStartCodes: Bool) throws {
        let stream = Self.stream()
        stream.receive(TestProgram.frame(0, size: 100, hasStartCodes: hasStartCodes), now: 0)
        let key = try #require(stream.video[0])
        // STAP-A with SPS, PPS and the slice.
        #expect(stream.video.end == 1 && key.marker)
        #expect(key.payload[0] & 0x1F == 24)
        #expect(Array(key.payload[3..<3 + TestProgram.sps.count]) == TestProgram.sps)
        stream.receive(TestProgram.frame(1, size: 300, hasStartCodes: hasStartCodes), now: 1)
        let next = try #require(stream.video[1])
        #expect(next.payload.count == 300 && next.payload[0] == 0x41)
    }

    @Test("video payloads have at most the largest size, and the RTP times of video and audio are exact")
    func sizes() {
        let stream = Self.stream()
        for number in 0..<90 as Range<Int64> {
            stream.receive(TestProgram.frame(number, size: 20_000), now: ms(33 * number))
        }
        for number in 0..<10 as Range<Int64> { stream.receive(TestProgram.audioPacket(number), now: ms(3_000)) }
        for index in stream.video.start..<stream.video.end {
            guard let packet = stream.video[index] else { continue }
            #expect(packet.payload.count <= RenditionStream.largestPayload)
            #expect(packet.time == packet.frame * 3_000)
        }
        #expect((0..<10).map { stream.audio[$0]?.time } == (0..<10).map { $0 * 960 })
    }

    @Test("video before the first key frame, and a truncated key frame, are dropped")
    func dropped() {
        let stream = Self.stream()
        stream.receive(TestProgram.frame(1), now: 0)
        var broken = TestProgram.frame(32)
        broken.range = 0..<10
        stream.receive(broken, now: 0)
        #expect(stream.video.end == 0)
        stream.receive(TestProgram.frame(32), now: 0)
        #expect(stream.video.end > 0 && stream.video.keyStart == 0)
    }

    @Test("the packet history keeps the latest GOP and about a second, but no more than ten seconds and its byte limit")
    func history() {
        var limits = PacketHistory.Limits()
        limits.bytes = 100_000
        var history = PacketHistory(limits: limits)
        func add(_ frame: Int64, isKey: Bool, bytes: Int = 100) {
            let packet = HistoryPacket(
                payload: [UInt8](repeating: 1, count: bytes), marker: true, time: frame * 3_000, frame: frame,
                arrival: ms(33 * frame))
            history.append([packet], isKey: isKey)
        }
        for frame in 0..<90 as Range<Int64> { add(frame, isKey: frame % 60 == 0) }
        // The group began at 60, a second is 30 frames.
        #expect(history.keyStart == 60 && history.start <= 60 && history.start >= 57 && history.end == 90)
        #expect(history[history.start - 1] == nil && history[90] == nil && history[89]?.frame == 89)
        for frame in 90..<300 as Range<Int64> { add(frame, isKey: false) }
        #expect(history.keyStart == 60 && history.start == 60)
        // Ten seconds.
        for frame in 300..<400 as Range<Int64> { add(frame, isKey: false) }
        #expect(history.keyStart == nil && history.end == 400)
        for frame in 400..<410 as Range<Int64> { add(frame, isKey: frame == 400, bytes: 30_000) }
        #expect(history.keyStart == nil && history.end - history.start == 3)
        history.removeAll()
        #expect(history.start == 410 && history.end == 410 && history.last == nil)
    }

    @Test("the program clock follows the packet with the least delay, and jumps with a new timeline")
    func clock() {
        var clock = ProgramClock(now: ms(1_000), wallClock: ms(500_000))
        #expect(clock.time(now: ms(1_000)) == nil)
        clock.received(ms(0), now: ms(2_000))
        clock.received(ms(100), now: ms(2_050))
        clock.received(ms(200), now: ms(2_300))
        #expect(clock.time(now: ms(3_000)) == ms(1_050))
        clock.received(ms(100_000), now: ms(3_000))
        #expect(clock.time(now: ms(3_000)) == ms(100_000))
        clock.received(ms(0), now: ms(4_000))
        #expect(clock.time(now: ms(4_500)) == ms(500))
    }
}

@Suite("Feed of a rendition for WebRTC viewers")
struct WHEPFeedTests {
    @Test("a WebRTC feed without viewers is inactive")
    func asleep() {
        let feed = WHEPFeed(name: "720p", hasVideo: true, hasAudio: true)
        feed.configure(TestProgram.configuration)
        for number in 0..<100 as Range<Int64> {
            feed.receive(TestProgram.frame(number))
            feed.receiveAudio(TestProgram.audioPacket(number))
        }
        #expect(!feed.isAwake)
    }
}

@Suite("Flow of a WebRTC viewer")
struct ViewerFlowTests {
    @Test(
        "a viewer's video pauses after three seconds of high reported loss, longer each time, and briefly again after recovery"
    )
    func pauses() {
        var flow = ViewerFlow(now: 0)
        var now: Int64 = 0
        var pauses: [Int64] = []
        while pauses.count < 5, now < ms(120_000) {
            flow.reported(lost: 100, now: now)
            if flow.isPaused(now: now) {
                let begin = now
                while flow.isPaused(now: now) { now += ms(100) }
                pauses.append((now - begin) / ms(1_000))
            } else {
                now += ms(1_000)
            }
        }
        #expect(pauses == [1, 2, 4, 8, 8])
        for _ in 0..<12 {
            flow.reported(lost: 0, now: now)
            now += ms(1_000)
        }
        for _ in 0..<4 {
            flow.reported(lost: 100, now: now)
            now += ms(1_000)
        }
        #expect(flow.isPaused(now: now - ms(500)) && !flow.isPaused(now: now + ms(100)))
    }

    @Test("single reports of high loss among moderate loss do not pause a viewer's video")
    func moderate() {
        var flow = ViewerFlow(now: 0)
        for second in 0..<60 as Range<Int64> {
            flow.reported(lost: second % 3 == 0 ? 200 : 40, now: ms(1_000 * second))
            #expect(!flow.isPaused(now: ms(1_000 * second)))
        }
    }

    @Test("if the viewer's estimated bandwidth is too low, 16 % reported loss pauses its video, and 5 % does not")
    func narrow() {
        for (lost, isPaused) in [(40, true), (13, false)] as [(UInt8, Bool)] {
            var flow = ViewerFlow(now: 0)
            for second in 0..<4 as Range<Int64> { flow.reported(lost: lost, isNarrow: true, now: ms(1_000 * second)) }
            #expect(flow.isPaused(now: ms(3_001)) == isPaused)
        }
    }

    @Test("a viewer counts as silent after six seconds without a datagram")
    func silence() {
        var flow = ViewerFlow(now: 0)
        flow.heard(now: ms(1_000))
        #expect(!flow.isSilent(now: ms(6_999)) && flow.isSilent(now: ms(7_000)))
        flow.heard(now: ms(8_000))
        #expect(!flow.isSilent(now: ms(8_001)))
    }
}

@Suite("Budget of a WebRTC viewer")
struct PaceBudgetTests {
    @Test("a viewer is sent a burst of 48 kB at once, then ten times the bit rate, but at least 20 Mbit/s")
    func rates() {
        for (bitrate, expected) in [(0, 2_500_000.0), (2_000_000, 2_500_000), (6_000_000, 7_500_000)] {
            var budget = PaceBudget(now: 0)
            var sent: [Int64: Int] = [:]
            for step in 0...100 as ClosedRange<Int64> {
                budget.refill(now: step * ms(5), bitrate: bitrate)
                while budget.isOpen {
                    budget.spend(1_200)
                    sent[step, default: 0] += 1_200
                }
            }
            #expect((sent[0] ?? 0) >= 48_000 && (sent[0] ?? 0) < 49_200)
            let rest = Double(sent.filter { $0.key > 0 }.values.reduce(0, +)) / 0.5
            #expect(abs(rest - expected) < expected / 50, "\(bitrate): \(rest)")
        }
    }
}
