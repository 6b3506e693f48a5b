import Testing
import WebRTC

/// A publisher whose video (stream 0, 90 kHz) and audio (stream 1, 48 kHz) are in time with each other.
private struct Publisher {
    /// Speed of the audio's RTP clock relative to the sender's NTP clock.
    var audioDrift = 1.0
    var ntpStart: Int64 = 3_900_000_000_000_000_000
    var videoStart: UInt32 = 0xFFFF_FF00
    var audioStart: UInt32 = 0xFFFF_0000
    /// Delay of each stream's packets until they arrive.
    var videoDelay: Int64 = ms(20)
    var audioDelay: Int64 = ms(60)
    var clock = SenderClock(clockRates: [90_000, 48_000], reference: 1)

    func timestamp(_ stream: Int, at time: Int64) -> UInt32 {
        stream == 0
            ? self.videoStart &+ UInt32(truncatingIfNeeded: time * 9 / 100_000)
            : self.audioStart &+ UInt32(truncatingIfNeeded: Int64(Double(time) * self.audioDrift * 48 / 1_000_000))
    }

    /// Time on the line of a packet that was captured at a time.
    mutating func packet(_ stream: Int, at time: Int64) -> Int64 {
        self.clock.time(
            stream: stream, timestamp: self.timestamp(stream, at: time),
            arrival: time + (stream == 0 ? self.videoDelay : self.audioDelay))
    }

    mutating func report(_ stream: Int, at time: Int64) {
        let report = RTCPSenderReport(
            ssrc: 1, ntp: NTPTime.timestamp(self.ntpStart + time), timestamp: self.timestamp(stream, at: time))
        self.clock.received(report, stream: stream, at: time + ms(20))
    }

    /// Sends both streams from one second to another; audio after video.
    ///
    /// - Returns: How much later audio of the last instant is placed than video of the same instant.
    mutating func run(_ seconds: Range<Int64>, reports: Bool = true) -> Int64 {
        var difference: Int64 = 0
        for tick in seconds.lowerBound * 25..<seconds.upperBound * 25 {
            let time = ms(tick * 40)
            let video = self.packet(0, at: time)
            difference = self.packet(1, at: time) - video
            if reports, tick % 25 == 10 { self.report(0, at: time) }
            if reports, tick % 125 == 62 { self.report(1, at: time) }
        }
        return difference
    }
}

@Suite("The timeline of a publisher: RFC 3550 §6.4.1, lip-sync by sender reports")
struct SenderClockTests {
    @Test("sender reports with extreme NTP times neither overflow nor move a stream by more than 10 s")
    func lies() {
        var publisher = Publisher()
        _ = (publisher.packet(1, at: ms(1_000)), publisher.packet(0, at: ms(1_000)))
        let (low, high) = (UInt64(1) << 32, UInt64.max)
        let order = [
            (1, low), (0, low), (0, high), (0, high), (1, low), (1, high), (1, high), (0, low), (0, high),
        ]
        for (stream, ntp) in Array(repeating: order, count: 4).joined() {
            let report = RTCPSenderReport(ssrc: 1, ntp: ntp, timestamp: publisher.timestamp(stream, at: ms(1_000)))
            publisher.clock.received(report, stream: stream, at: ms(1_060))
            #expect(abs(publisher.clock.correction(stream: stream) ?? 0) <= ms(10_000))
        }
        _ = publisher.clock.wallClock(at: .max)
        for stream in 0...1 { #expect(abs(publisher.packet(stream, at: ms(1_040)) - ms(1_060)) <= ms(10_100)) }
    }

    @Test("before sender reports, each stream is placed by the arrival of its first packet")
    func arrivals() {
        var publisher = Publisher()
        #expect(publisher.packet(0, at: ms(1_000)) == ms(1_020))
        #expect(publisher.packet(1, at: ms(1_000)) == ms(1_060))
        #expect(publisher.run(1..<10, reports: false) == ms(40))
        #expect(publisher.clock.wallClock(at: 0) == nil)
        #expect(publisher.clock.correction(stream: 0) == nil)
    }

    @Test(
        "after the first audio report, video is shifted by 1 % of the time until both are in sync; audio is not shifted"
    )
    func lateReport() {
        var publisher = Publisher()
        let before = publisher.run(0..<2)
        #expect(abs(before - ms(40)) <= 1_000)
        // 2.48 s: the audio report is there. 40 ms at 1 % take 4 s.
        let after = publisher.run(2..<4)
        #expect(after > ms(20) && after < ms(30))
        var last = publisher.packet(1, at: ms(4_000))
        for tick in 1...100 {
            let next = publisher.packet(1, at: ms(4_000 + Int64(tick) * 20))
            #expect(abs(next - last - ms(20)) < 30_000, "audio keeps its speed")
            last = next
        }
        #expect(abs(publisher.run(6..<12)) < 100_000)
        #expect(publisher.clock.largeCorrections == 0 && publisher.clock.jumps == 0)
        #expect(abs(publisher.clock.corrected(stream: 0) - ms(40)) < 100_000)
        #expect(abs(publisher.clock.corrected(stream: 1)) < 100_000)
        #expect(
            publisher.clock.wallClock(at: ms(60)).map {
                abs($0 - (3_900_000_000 - 2_208_988_800) * ms(1_000)) < 100_000
            } == true)
    }

    @Test(
        "with a drift of 200 ppm between the audio clock and NTP, audio and video stay in sync within 5 ms for an hour")
    func drift() {
        for drift in [1.0002, 0.9998] {
            var publisher = Publisher()
            publisher.audioDrift = drift
            var worst: Int64 = 0
            _ = publisher.run(0..<20)
            for minute in 1..<60 as Range<Int64> {
                worst = max(worst, abs(publisher.run(minute * 60..<minute * 60 + 60)))
            }
            #expect(worst < ms(5), "\(drift)")
            #expect(publisher.clock.jumps == 0 && publisher.clock.largeCorrections == 0)
        }
    }

    @Test("one wrong sender report among right ones does not move a stream")
    func outlier() {
        var publisher = Publisher()
        _ = publisher.run(0..<20)
        let wrong = RTCPSenderReport(
            ssrc: 1, ntp: NTPTime.timestamp(publisher.ntpStart + ms(20_300)),
            timestamp: publisher.timestamp(0, at: ms(20_000)))
        publisher.clock.received(wrong, stream: 0, at: ms(20_020))
        #expect(abs(publisher.clock.correction(stream: 0) ?? .max) < 100_000)
        #expect(abs(publisher.run(20..<30)) < 100_000)
    }

    @Test("after RTP times jump back by 6 s, streams continue by arrival, and sender reports restore lip-sync")
    func jumpBack() {
        var publisher = Publisher()
        _ = publisher.run(0..<12)
        let last = publisher.packet(0, at: ms(12_000))
        publisher.videoStart &-= 6 * 90_000
        publisher.audioStart &-= 6 * 48_000
        let next = publisher.packet(0, at: ms(12_040))
        #expect(next - last == ms(40))
        // A report of before the jump, which arrives after it.
        publisher.videoStart &+= 6 * 90_000
        publisher.report(0, at: ms(12_020))
        publisher.videoStart &-= 6 * 90_000
        #expect(publisher.clock.ignoredReports == 1)
        #expect(abs(publisher.run(13..<30)) < 100_000)
        #expect(publisher.clock.jumps == 2)
        #expect(publisher.clock.largeCorrections == 0)
    }

    @Test(
        "a pause or a late burst counts as no jump; after a jump or a stall of RTP times the timeline follows the arrivals"
    )
    func otherJumps() {
        var publisher = Publisher()
        _ = publisher.run(0..<10)
        let last = publisher.packet(0, at: ms(10_000))
        // Pause of 4 s (a muted track) with the right time: the line continues with it.
        #expect(abs(publisher.packet(0, at: ms(14_000)) - last - ms(4_000)) < 100_000)
        #expect(publisher.clock.jumps == 0)
        // Packets that arrive 3 s late at once are no jump.
        for tick in 1...25 as ClosedRange<Int64> {
            let time = publisher.clock.time(
                stream: 0, timestamp: publisher.timestamp(0, at: ms(14_000 + tick * 40)), arrival: ms(17_000))
            #expect(abs(time - last - ms(4_000 + tick * 40)) < 200_000)
        }
        #expect(publisher.clock.jumps == 0)
        let before = publisher.packet(0, at: ms(18_000))
        publisher.videoStart &+= 90_000 * 100
        #expect(publisher.packet(0, at: ms(18_040)) - before == ms(40))
        #expect(publisher.clock.jumps == 1)
        // The RTP clock stands for 5 s: after a second, the line follows the arrivals.
        publisher.videoStart &-= 90_000 * 5
        var stalled: Int64 = 0
        for tick in 0...50 as ClosedRange<Int64> { stalled = publisher.packet(0, at: ms(23_040 + tick * 40)) }
        #expect(abs(stalled - before - ms(7_040)) < ms(50))
        #expect(publisher.clock.jumps == 2)
    }

    @Test("a step of the sender's wall clock moves neither stream")
    func wallClockStep() {
        var publisher = Publisher()
        _ = publisher.run(0..<40)
        publisher.ntpStart += 3_600 * ms(1_000)
        for second in 40..<80 as Range<Int64> { #expect(abs(publisher.run(second..<second + 1)) < ms(1)) }
        #expect(publisher.clock.jumps == 0 && publisher.clock.largeCorrections == 0)
        let wall = publisher.clock.wallClock(at: ms(80_060)) ?? 0
        #expect(abs(wall - (3_900_000_000 - 2_208_988_800 + 3_600 + 80) * ms(1_000)) < ms(1))
    }

    @Test("a stream that restarts with other RTP times is placed by arrival; unknown stream indices do nothing")
    func restart() {
        var publisher = Publisher()
        _ = publisher.run(0..<10)
        let last = publisher.packet(0, at: ms(10_000))
        publisher.clock.restart(stream: 0)
        publisher.videoStart = 77
        #expect(abs(publisher.packet(0, at: ms(13_000)) - last - ms(3_000)) < ms(1))
        #expect(publisher.clock.jumps == 0)
        publisher.clock.restart(stream: 9)
        publisher.report(9, at: ms(13_000))
        #expect(publisher.clock.time(stream: 9, timestamp: 0, arrival: 5) == 5)
    }

    @Test("packets over 2,000 hours do not overflow the timeline")
    func days() {
        var clock = SenderClock(clockRates: [48_000])
        var time: Int64 = 0
        for hour in 0..<2_000 as Range<Int64> {
            let arrival = hour * 3_600 * ms(1_000)
            time = clock.time(
                stream: 0, timestamp: UInt32(truncatingIfNeeded: hour * 3_600 * 48_000), arrival: arrival)
        }
        #expect(time == 1_999 * 3_600 * ms(1_000))
    }
}
