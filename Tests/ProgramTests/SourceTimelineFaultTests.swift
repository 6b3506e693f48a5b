import MediaTypes
import Program
import Testing

/// A simulated publisher: timestamps and arrival times in milliseconds, without a clock or a socket.
struct SimulatedPublisher {
    var timeline: SourceTimeline
    /// Current program time in nanoseconds.
    var now: Int64 = 0
    /// Mapping of each track's newest packet.
    var placed: [TrackKind: SourceTimeline.Mapped] = [:]
    var seams = 0

    init(jitterMs: Int64 = 200, audioLeadMs: Int64 = 0) {
        self.timeline = SourceTimeline(jitterBuffer: jitterMs * 1_000_000, audioLead: audioLeadMs * 1_000_000)
    }

    /// Sends a packet stamped `ms` that arrives at `at` (milliseconds).
    @discardableResult
    mutating func send(_ kind: TrackKind, _ ms: Int64, at: Int64) -> Int64 {
        let time = ms * 1_000_000
        let mapped = self.timeline.map(kind: kind, pts: time, dts: time, arrival: at * 1_000_000)
        self.placed[kind] = mapped
        if mapped.isReanchored { self.seams += 1 }
        return mapped.pts / 1_000_000
    }

    /// Sends video every 33 ms and audio every 21 ms for `range` of wall time, each with its own timestamp function.
    mutating func run(
        _ range: Range<Int64>, video: ((Int64) -> Int64)?, audio: ((Int64) -> Int64)?,
        delay: (Int64) -> Int64 = { _ in 0 }
    ) {
        for at in range {
            if let audio, at % 21 == 0 { self.send(.audio, audio(at), at: at + delay(at)) }
            if let video, at % 33 == 0 { self.send(.video, video(at), at: at + delay(at)) }
        }
    }

    /// How long before it is due the newest packet of a track would arrive if it arrived now, in milliseconds.
    func ahead(_ kind: TrackKind, at: Int64) -> Int64 { (self.placed[kind]?.pts ?? 0) / 1_000_000 - at }
}

@Suite("SourceTimeline with publishers' timestamp faults")
struct SourceTimelineFaultTests {
    @Test("timestamps that start at one hour are played after the jitter buffer, not an hour later")
    func absoluteStart() {
        var publisher = SimulatedPublisher()
        #expect(publisher.send(.video, 3_600_000, at: 50) == 250)
        #expect(publisher.send(.audio, 3_600_010, at: 55) == 260)
    }

    @Test(
        "if both tracks jump, the timeline is mapped anew once, and they stay in sync",
        arguments: [60_000, -60_000, 4_000])
    func jumpOfBoth(jump: Int64) {
        var publisher = SimulatedPublisher()
        publisher.run(0..<5_000, video: { $0 + 100_000 }, audio: { $0 + 100_000 })
        publisher.run(5_000..<12_000, video: { $0 + 100_000 + jump }, audio: { $0 + 100_000 + jump })
        #expect(publisher.timeline.reanchors == 1)
        let (video, audio) = (publisher.placed[.video]?.pts ?? 0, publisher.placed[.audio]?.pts ?? 0)
        // The last packets of the tracks have the wall times 11,979 and 11,991 as timestamps.
        #expect(abs(audio - video - 12_000_000) <= 1_000_000)
        #expect((180...230).contains(publisher.ahead(.video, at: 11_979)))
    }

    @Test("a minute of silence with continuing timestamps is not a jump")
    func silence() {
        var publisher = SimulatedPublisher()
        publisher.run(0..<3_000, video: { $0 }, audio: { $0 })
        publisher.run(63_000..<66_000, video: { $0 }, audio: { $0 })
        #expect(publisher.timeline.reanchors == 0)
        #expect(publisher.ahead(.audio, at: 65_982) == 200)
    }

    @Test("a pause during which timestamps do not advance maps the timeline anew once")
    func pauseWithoutTime() {
        var publisher = SimulatedPublisher()
        publisher.run(0..<3_000, video: { $0 }, audio: { $0 })
        publisher.run(33_000..<40_000, video: { $0 - 30_000 }, audio: { $0 - 30_000 })
        #expect(publisher.timeline.reanchors == 1)
        #expect((195...205).contains(publisher.ahead(.video, at: 39_996)))
        #expect((195...205).contains(publisher.ahead(.audio, at: 39_984)))
    }

    @Test(
        "if timestamps restart at zero, the timeline is mapped anew once, and packets are due one jitter buffer after arrival"
    )
    func reset() {
        var publisher = SimulatedPublisher()
        publisher.run(0..<10_000, video: { $0 + 50_000 }, audio: { $0 + 50_000 })
        let before = publisher.placed[.video]?.pts ?? 0
        publisher.run(10_000..<20_000, video: { $0 - 10_000 }, audio: { $0 - 10_000 })
        #expect(publisher.timeline.reanchors == 1)
        #expect(publisher.placed[.video]?.pts ?? 0 > before)
        #expect((190...210).contains(publisher.ahead(.video, at: 19_998)))
        #expect((190...210).contains(publisher.ahead(.audio, at: 19_992)))
    }

    @Test("if only the video's timestamps restart at zero, both tracks are again due one jitter buffer after arrival")
    func resetOfOneTrack() {
        var publisher = SimulatedPublisher()
        publisher.run(0..<10_000, video: { $0 + 50_000 }, audio: { $0 + 50_000 })
        publisher.run(10_000..<30_000, video: { $0 - 10_000 }, audio: { $0 + 50_000 })
        #expect((190...210).contains(publisher.ahead(.video, at: 29_997)))
        #expect((190...210).contains(publisher.ahead(.audio, at: 29_988)))
    }

    @Test(
        "if timestamps stand at one value for five seconds, packets stay within 60 ms of the jitter buffer, also afterwards",
        arguments: [true, false])
    func stuck(catchesUp: Bool) {
        var publisher = SimulatedPublisher()
        publisher.run(0..<5_000, video: { $0 }, audio: { $0 })
        publisher.run(5_000..<10_000, video: { _ in 5_000 }, audio: { _ in 5_000 })
        #expect((150...250).contains(publisher.ahead(.video, at: 9_999)))
        #expect((150...250).contains(publisher.ahead(.audio, at: 9_996)))
        publisher.run(10_000..<20_000, video: { catchesUp ? $0 : $0 - 5_000 }, audio: { catchesUp ? $0 : $0 - 5_000 })
        #expect((150...260).contains(publisher.ahead(.video, at: 19_998)))
        #expect((150...260).contains(publisher.ahead(.audio, at: 19_992)))
        #expect(publisher.timeline.reanchors <= 1)
    }

    @Test(
        "tracks whose timestamps start at zero at different times are shown in sync by arrival",
        arguments: [400, 150, 900] as [Int64])
    func zeroedApart(skew: Int64) {
        var publisher = SimulatedPublisher()
        publisher.run(0..<skew, video: { $0 }, audio: nil)
        let start = (skew + 20) / 21 * 21
        for at in skew..<10_000 {
            if at % 33 == 0 { publisher.send(.video, at, at: at) }
            if at % 21 == 0 { publisher.send(.audio, at - start, at: at) }
        }
        // Audio and video made at the same moment are shown at the same moment.
        let apart = publisher.ahead(.audio, at: 9_996) - publisher.ahead(.video, at: 9_999)
        #expect(abs(apart) <= 40, "\(apart) ms")
        #expect(publisher.timeline.reanchors <= 1)
    }

    @Test("a microphone enabled after ten seconds, with timestamps from zero, is heard at once and in sync")
    func lateMicrophone() {
        var publisher = SimulatedPublisher()
        publisher.run(0..<10_000, video: { $0 }, audio: nil)
        publisher.run(10_000..<15_000, video: { $0 }, audio: { $0 - 10_017 })
        #expect(abs(publisher.ahead(.audio, at: 14_994) - 200) <= 40)
        #expect(publisher.timeline.reanchors == 0)
    }

    @Test("timestamps beyond 24.9 days (2^31 ms) and across 49.7 days (2^32 ms) do not map the timeline anew")
    func longTimes() {
        for start in [0x8000_0000 as Int64, 0xFFFF_FFF0] {
            var publisher = SimulatedPublisher()
            publisher.run(0..<3_000, video: { $0 + start }, audio: { $0 + start })
            #expect(publisher.timeline.reanchors == 0)
            #expect(publisher.ahead(.video, at: 2_970) == 200)
        }
    }

    @Test("a track that stops does not affect the other track of the source", arguments: TrackKind.allCases)
    func oneTrackStops(gone: TrackKind) {
        var publisher = SimulatedPublisher()
        publisher.run(0..<5_000, video: { $0 }, audio: { $0 })
        let other: TrackKind = gone == .video ? .audio : .video
        publisher.run(5_000..<60_000, video: gone == .video ? nil : { $0 }, audio: gone == .audio ? nil : { $0 })
        #expect((195...205).contains(publisher.ahead(other, at: other == .audio ? 59_997 : 59_994)))
        publisher.run(60_000..<63_000, video: { $0 }, audio: { $0 })
        #expect(publisher.timeline.reanchors == 0)
        #expect(abs(publisher.ahead(.audio, at: 62_979) - publisher.ahead(.video, at: 62_997)) <= 20)
    }

    @Test(
        "a screen share with one frame every five seconds, with or without audio, is not taken for a timestamp jump"
    )
    func stillScreen() {
        for hasAudio in [true, false] {
            var publisher = SimulatedPublisher()
            for at in Int64(0)..<60_000 {
                if hasAudio, at % 21 == 0 { publisher.send(.audio, at, at: at) }
                if at % 5_000 == 0 { publisher.send(.video, at, at: at) }
            }
            #expect(publisher.timeline.reanchors == 0 && publisher.seams == 0)
            #expect(publisher.ahead(.video, at: 55_000) == 200)
        }
    }

    @Test(
        "audio sent 300 ms before or after its video stays in sync",
        arguments: [300, -300] as [Int64])
    func interleavedApart(lead: Int64) {
        var publisher = SimulatedPublisher()
        publisher.run(1_000..<12_000, video: { $0 }, audio: { $0 + lead })
        // Equal timestamps are shown at the same time: a frame that arrived at 11,979 has that timestamp.
        let video = (publisher.placed[.video]?.pts ?? 0) / 1_000_000 - 11_979
        let audio = (publisher.placed[.audio]?.pts ?? 0) / 1_000_000 - (11_991 + lead)
        #expect(abs(video - audio) <= 1, "\(video) and \(audio) ms")
        // And the track that arrives later is shown in time.
        #expect(min(publisher.ahead(.video, at: 11_979), publisher.ahead(.audio, at: 11_991)) >= 195)
        #expect(publisher.timeline.reanchors <= 1)
    }

    @Test("when a delay of 600 ms is gone, a source's packets are due about one jitter buffer after arrival again")
    func comesBack() {
        var publisher = SimulatedPublisher()
        publisher.run(0..<5_000, video: { $0 }, audio: { $0 })
        publisher.run(5_000..<15_000, video: { $0 }, audio: { $0 }, delay: { _ in 600 })
        #expect(publisher.timeline.reanchors == 1)
        #expect((180...260).contains(publisher.ahead(.video, at: 14_982 + 600)))
        publisher.run(15_600..<40_000, video: { $0 }, audio: { $0 })
        #expect(publisher.timeline.reanchors == 2)
        #expect((195...215).contains(publisher.ahead(.video, at: 39_996)))
    }

    @Test(
        "if the first packet is delayed, the jitter buffer still has its configured length two seconds later",
        arguments: [20, 80, 180] as [Int64])
    func firstPacketsLuck(luck: Int64) {
        var publisher = SimulatedPublisher()
        publisher.run(0..<2_000, video: { $0 }, audio: { $0 }, delay: { max(0, luck - $0) })
        #expect(publisher.ahead(.video, at: 1_980) <= 210)
        #expect(publisher.timeline.reanchors <= 1)
    }

    @Test("network delays of 350 ms now and then lengthen the jitter buffer; without them it shrinks again")
    func deepens() {
        var publisher = SimulatedPublisher()
        publisher.run(0..<2_000, video: { $0 }, audio: { $0 })
        publisher.run(2_000..<12_000, video: { $0 }, audio: { $0 }, delay: { $0 % 2_000 < 100 ? 350 : 0 })
        #expect((340...400).contains(publisher.ahead(.video, at: 11_979)))
        publisher.run(12_000..<120_000, video: { $0 }, audio: { $0 })
        #expect((195...260).contains(publisher.ahead(.video, at: 119_988)))
    }

    @Test(
        "a lengthened jitter buffer returns to its configured length within 30 s without delays",
        arguments: [(1_200, 3_000), (2_000, 4_000), (300, 300)] as [(Int64, Int64)])
    func goesBack(stall: Int64, every period: Int64) {
        var publisher = SimulatedPublisher(audioLeadMs: 39)
        var arrived: Int64 = 0
        func run(_ range: Range<Int64>, isBad: Bool) {
            for at in range {
                // Delayed packets arrive at once.
                let isHeld = isBad && at % period < stall
                arrived = max(arrived, isHeld ? at / period * period + stall : at + at % 7)
                if at % 21 == 0 { publisher.send(.audio, at, at: arrived) }
                if at % 33 == 0 { publisher.send(.video, at, at: arrived) }
            }
        }
        run(0..<5_000, isBad: false)
        run(5_000..<45_000, isBad: true)
        #expect((publisher.timeline.buffered ?? 0) > 320_000_000)
        run(45_000..<75_000, isBad: false)
        #expect(publisher.timeline.depth == 200_000_000)
        #expect(
            (190_000_000...235_000_000).contains(publisher.timeline.buffered ?? 0),
            "\(publisher.timeline.buffered ?? 0)")
    }

    @Test("a single long stall does not lengthen the jitter buffer to the stall's length")
    func oneStall() {
        var publisher = SimulatedPublisher()
        publisher.run(0..<4_000, video: { $0 }, audio: { $0 })
        publisher.run(4_000..<5_200, video: { $0 }, audio: { $0 }, delay: { 5_200 - $0 })
        publisher.run(5_200..<10_000, video: { $0 }, audio: { $0 }, delay: { $0 % 2_000 < 100 ? 300 : 0 })
        #expect(publisher.timeline.lastReason == .jitter)
        #expect((300...345).contains(publisher.ahead(.video, at: 9_979)))
    }

    @Test("audio that keeps arriving after its time was mixed is late, although it is not due yet; video is not")
    func mixedAhead() {
        var audio = SimulatedPublisher(audioLeadMs: 39)
        audio.run(0..<3_000, video: nil, audio: { $0 })
        audio.run(3_000..<5_000, video: nil, audio: { $0 }, delay: { _ in 170 })
        #expect(audio.timeline.reanchors == 1 && audio.timeline.lastReason == .late)
        #expect((195...205).contains(audio.ahead(.audio, at: 4_998 + 170)))
        var video = SimulatedPublisher(audioLeadMs: 39)
        video.run(0..<3_000, video: { $0 }, audio: nil)
        video.run(3_000..<5_000, video: { $0 }, audio: nil, delay: { _ in 170 })
        #expect(video.timeline.reanchors == 0 && video.seams == 0)
    }

    @Test("audio that is late for the mixer now and then lengthens the jitter buffer once")
    func mixedAheadNowAndThen() {
        var publisher = SimulatedPublisher(audioLeadMs: 39)
        publisher.run(0..<2_000, video: nil, audio: { $0 })
        publisher.run(2_000..<120_000, video: nil, audio: { $0 }, delay: { $0 % 2_000 < 100 ? 180 : 0 })
        #expect(publisher.timeline.reanchors == 1 && publisher.timeline.lastReason == .jitter)
        // 180 ms and the mix-ahead, and some margin.
        #expect((230...245).contains(publisher.ahead(.audio, at: 119_994)))
    }

    @Test(
        "audio that is late only for a filter that holds it lengthens the jitter buffer", arguments: [0, 47] as [Int64])
    func filtered(lead: Int64) {
        var publisher = SimulatedPublisher(jitterMs: 80, audioLeadMs: 39)
        publisher.timeline.setOffset(47_000_000)
        publisher.timeline.filterLead = lead * 1_000_000
        publisher.run(0..<2_000, video: nil, audio: { $0 })
        // Available 67 ms before its time. The mixer needs 39 ms, and the filter 47 ms more.
        publisher.run(2_000..<20_000, video: nil, audio: { $0 }, delay: { $0 % 2_000 < 100 ? 60 : 0 })
        #expect(publisher.timeline.reanchors == (lead == 0 ? 0 : 1))
    }

    @Test("audio that arrives in blocks longer than the jitter buffer lengthens the buffer")
    func pieces() {
        var publisher = SimulatedPublisher()
        var late = 0
        for at in stride(from: Int64(0), to: 20_000, by: 21) {
            // All packets of a block arrive with its last one.
            let arrival = at / 252 * 252 + 231
            if publisher.send(.audio, at, at: arrival) < arrival, at > 5_000 { late += 1 }
        }
        #expect(late == 0)
        #expect(publisher.timeline.lastReason == .jitter && publisher.timeline.reanchors <= 2)
    }

    @Test("with a negative offset of a source, packets count as late at a delay that is smaller by the offset")
    func lateByOffset() {
        var publisher = SimulatedPublisher()
        publisher.timeline.setOffset(-120_000_000)
        publisher.run(0..<3_000, video: { $0 }, audio: nil)
        #expect(publisher.ahead(.video, at: 2_970) == 80)
        publisher.run(3_000..<5_000, video: { $0 }, audio: nil, delay: { _ in 150 })
        #expect(publisher.timeline.reanchors == 1 && publisher.timeline.lastReason == .late)
        #expect((75...85).contains(publisher.ahead(.video, at: 4_983 + 150)))
    }

    @Test(
        "with a positive offset of a source, audio counts as late for the mixer at a delay that is larger by the offset"
    )
    func laterByOffset() {
        var publisher = SimulatedPublisher(audioLeadMs: 39)
        publisher.timeline.setOffset(100_000_000)
        publisher.run(0..<3_000, video: nil, audio: { $0 })
        publisher.run(3_000..<5_000, video: nil, audio: { $0 }, delay: { _ in 170 })
        #expect(publisher.timeline.reanchors == 0)
        publisher.run(5_000..<7_000, video: nil, audio: { $0 }, delay: { _ in 230 })
        #expect(publisher.timeline.reanchors == 1 && publisher.timeline.lastReason == .late)
    }

    @Test("a source's new offset takes effect at its next packet")
    func newOffset() {
        var publisher = SimulatedPublisher()
        publisher.run(0..<2_000, video: { $0 }, audio: { $0 })
        publisher.timeline.setOffset(500_000_000)
        publisher.run(2_000..<2_100, video: { $0 }, audio: { $0 })
        #expect(publisher.ahead(.video, at: 2_079) == 700)
        #expect(publisher.timeline.reanchors == 0 && publisher.seams == 1)
    }
}
