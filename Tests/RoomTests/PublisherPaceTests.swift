import MediaKernels
import MediaTypes
import RoomSources
import Testing

import Room

@Suite("How fast a publisher is read")
struct PublisherPaceTests {
    private static let second: Int64 = 1_000_000_000

    /// A publisher of 30 pictures a second, a key picture every two seconds, and of sound.
    private struct Sender {
        var pace = PublisherPace()
        /// Media time of the next picture, in milliseconds.
        var time: Int64 = 0
        var gop: Int64 = 2_000
        /// What sound's timestamps are off by, in thousandths.
        var soundOff: Int64 = 0
        /// In milliseconds of media: where there is no sound.
        var silence: Range<Int64> = 0..<0
        /// Of how much later than its own time a packet counts as come, in nanoseconds.
        var delays: [Int64] = []

        mutating func send(at arrival: Int64) {
            self.note(.video, self.time, isKey: self.time % self.gop < 40, arrival)
            if !self.silence.contains(self.time) {
                self.note(.audio, self.time + self.time * self.soundOff / 1000, isKey: true, arrival)
            }
            self.time += 40
        }

        private mutating func note(_ kind: TrackKind, _ time: Int64, isKey: Bool, _ arrival: Int64) {
            let due = self.pace.note(
                CodedPacket(
                    kind: kind, memory: PacketMemory([0]), pts: time, dts: time, timescale: 1000, isKey: isKey,
                    arrival: arrival))
            if kind == .video { self.delays.append(due - time * 1_000_000) }
            if !self.pace.isRacing { #expect(due == arrival) }
        }

        /// Sends `seconds` of media from `start` on, `percent` of real time.
        mutating func run(from start: Int64, seconds: Int64, percent: Int64 = 100) -> Int64 {
            var now = start
            for _ in 0..<seconds * 25 {
                self.send(at: now)
                _ = self.pace.look(at: now, waiting: 0)
                #expect(!self.pace.isHeld && !self.pace.isRacing)
                now += 40_000_000 * 100 / percent
            }
            return now
        }
    }

    @Test("a clock that is fast by a hundredth is read for ever")
    func fastClock() {
        var sender = Sender()
        _ = sender.run(from: 5, seconds: 3_600, percent: 101)
        #expect(sender.pace.lead(at: 0) < 200_000_000)
    }

    @Test("what comes at once behind a stall of the network is read at once, however often", arguments: [3, 20, 80])
    func stalls(length: Int64) {
        var sender = Sender()
        var now: Int64 = 5
        for _ in 0..<10 {
            now = sender.run(from: now, seconds: 5) + length * Self.second
            now = sender.run(from: now, seconds: length, percent: 100_000)
        }
    }

    @Test("a server that begins with the pictures it has cached goes on in real time", arguments: [2, 5, 9])
    func cachedGOP(length: Int64) {
        var sender = Sender(gop: 10_000)
        let now = sender.run(from: 5, seconds: length, percent: 100_000)
        _ = sender.run(from: now, seconds: 60)
    }

    @Test("a jump of the timestamps and a restart of the encoder are no haste")
    func jumps() {
        var sender = Sender()
        var now = sender.run(from: 5, seconds: 5)
        sender.time += 3_600_000
        now = sender.run(from: now, seconds: 20)
        sender.time = 0
        _ = sender.run(from: now, seconds: 20)
    }

    @Test("sound whose timestamps are a tenth too fast holds no pictures up")
    func wrongSound() {
        var sender = Sender(soundOff: 100)
        _ = sender.run(from: 5, seconds: 300)
    }

    @Test("a file that is pushed is read in real time, and counts as evenly come", arguments: [130, 300, 100_000])
    func file(percent: Int64) {
        var sender = Sender()
        var now: Int64 = 5
        var racingSince: (now: Int64, time: Int64)?
        let step = 40_000_000 * 100 / percent
        while now < 120 * Self.second {
            // It is read in pieces of half a second; the clock is looked at every tenth.
            for _ in 0..<12 where !sender.pace.isHeld {
                sender.send(at: now)
                now += step
            }
            _ = sender.pace.look(at: now, waiting: 0)
            if sender.pace.isRacing, racingSince == nil {
                racingSince = (now, sender.time)
                sender.delays = []
            }
            if sender.pace.isHeld { now += 100_000_000 }
        }
        guard let (began, time) = racingSince else {
            Issue.record("it was never noticed")
            return
        }
        let ahead = (sender.time - time) * 1_000_000 - (now - began)
        #expect(ahead > 0 && ahead < 3 * Self.second, "\(ahead / 1_000_000) ms ahead")
        #expect(time < (percent < 200 ? 30_000 : 9_000), "noticed after \(time) ms of it")
        // By the drift that the timeline follows softly, and by nothing else.
        let spread = (sender.delays.max() ?? 0) - (sender.delays.min() ?? 0)
        #expect(spread < 60_000_000, "\(spread / 1_000_000) ms")
    }

    @Test(
        "a file whose sound begins late, ends early or has a hole is read in real time, and no packet counts as come earlier",
        arguments: [0..<20_000, 20_000..<Int64.max, 20_000..<22_500, 20_000..<23_900, 20_000..<40_000])
    func holes(silence: Range<Int64>) {
        var sender = Sender(silence: silence)
        var now: Int64 = 5
        var begin: (now: Int64, time: Int64)?
        while now < 60 * Self.second {
            for _ in 0..<12 where !sender.pace.isHeld {
                sender.send(at: now)
                now += 1_000_000
            }
            _ = sender.pace.look(at: now, waiting: 0)
            if sender.pace.isRacing, begin == nil {
                begin = (now, sender.time)
                sender.delays = []
            }
            if let begin {
                let ahead = (sender.time - begin.time) * 1_000_000 - (now - begin.now)
                #expect(ahead < 3 * Self.second, "\(ahead / 1_000_000) ms ahead at \(sender.time) ms")
            }
            if sender.pace.isHeld { now += 100_000_000 }
        }
        #expect(begin != nil && sender.time > 60_000)
        let spread = (sender.delays.max() ?? 0) - (sender.delays.min() ?? 0)
        #expect(spread < 500_000_000, "\(spread / 1_000_000) ms")
    }

    @Test("sound alone is held as well, and nobody is ahead by more than half a minute")
    func tinyMessages() {
        var pace = PublisherPace()
        var latest: Int64 = 0
        for index in 0..<50_000 {
            latest = pace.note(
                CodedPacket(
                    kind: .audio, memory: PacketMemory([0]), pts: 0, dts: Int64(index) * 999, timescale: 1000,
                    isKey: true, arrival: 1_000))
        }
        _ = pace.look(at: 1_000, waiting: 0)
        #expect(pace.isRacing && pace.isHeld)
        #expect(latest == 1_000 + 30 * Self.second)
        pace.end()
        #expect(pace.isHeld)
        let isChanged = pace.look(at: 1_000, waiting: 0)
        #expect(isChanged && !pace.isHeld, "the next publication is another one")
    }

    @Test("whatever its time, who has sent too much is held until a good part of it is decoded")
    func bytes() {
        var pace = PublisherPace()
        let waiting = [24 << 20, 24 << 20 + 1, 16 << 20, 16 << 20 - 1]
        var changes: [Bool] = []
        var held: [Bool] = []
        for bytes in waiting {
            changes.append(pace.look(at: 0, waiting: bytes))
            held.append(pace.isHeld)
        }
        #expect(changes == [false, true, false, true])
        #expect(held == [false, true, true, false])
    }
}
