import MediaKernels
import MediaTypes
import RoomSources
import Testing

import Room

@Suite("Publishers that send faster than real time are paused")
struct PublisherPaceTests {
    private static let second: Int64 = 1_000_000_000

    /// A publisher of video at 25 fps, with a key frame every two seconds by default, and of an audio packet with each frame.
    private struct Sender {
        var pace = PublisherPace()
        /// Media time of the next frame, in milliseconds.
        var time: Int64 = 0
        /// Distance of key frames in milliseconds.
        var gop: Int64 = 2_000
        /// Error of the audio timestamps, in thousandths.
        var audioOff: Int64 = 0
        /// Range without audio, in milliseconds of media time.
        var silence: Range<Int64> = 0..<0
        /// By how much each frame's counted arrival is later than its media time, in nanoseconds.
        var delays: [Int64] = []

        mutating func send(at arrival: Int64) {
            self.note(.video, self.time, isKey: self.time % self.gop < 40, arrival)
            if !self.silence.contains(self.time) {
                self.note(.audio, self.time + self.time * self.audioOff / 1000, isKey: true, arrival)
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

        /// Sends `seconds` of media from `start` on, at `percent` of real time.
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

    @Test("a publisher whose clock is 1 % fast is not paused within an hour")
    func fastClock() {
        var sender = Sender()
        _ = sender.run(from: 5, seconds: 3_600, percent: 101)
        #expect(sender.pace.lead(at: 0) < 200_000_000)
    }

    @Test(
        "a publisher whose data arrives in a burst after each network stall of 3 to 80 s is not paused",
        arguments: [3, 20, 80])
    func stalls(length: Int64) {
        var sender = Sender()
        var now: Int64 = 5
        for _ in 0..<10 {
            now = sender.run(from: now, seconds: 5) + length * Self.second
            now = sender.run(from: now, seconds: length, percent: 100_000)
        }
    }

    @Test("a server that first sends up to nine seconds of cached frames is not paused", arguments: [2, 5, 9])
    func cachedGOP(length: Int64) {
        var sender = Sender(gop: 10_000)
        let now = sender.run(from: 5, seconds: length, percent: 100_000)
        _ = sender.run(from: now, seconds: 60)
    }

    @Test("a publisher whose timestamps jump forward or restart at zero is not paused")
    func jumps() {
        var sender = Sender()
        var now = sender.run(from: 5, seconds: 5)
        sender.time += 3_600_000
        now = sender.run(from: now, seconds: 20)
        sender.time = 0
        _ = sender.run(from: now, seconds: 20)
    }

    @Test("a publisher whose audio timestamps run 10 % fast is not paused")
    func wrongAudio() {
        var sender = Sender(audioOff: 100)
        _ = sender.run(from: 5, seconds: 300)
    }

    @Test(
        "a file pushed at 1.3 to 1,000 times real time is detected, read at most 3 s ahead, and its packets get even arrival times",
        arguments: [130, 300, 100_000])
    func file(percent: Int64) {
        var sender = Sender()
        var now: Int64 = 5
        var racingSince: (now: Int64, time: Int64)?
        let step = 40_000_000 * 100 / percent
        while now < 120 * Self.second {
            // Twelve frames arrive between two checks; while the publisher is paused, a check comes every 100 ms.
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
            Issue.record("it was never detected")
            return
        }
        let ahead = (sender.time - time) * 1_000_000 - (now - began)
        #expect(ahead > 0 && ahead < 3 * Self.second, "\(ahead / 1_000_000) ms ahead")
        #expect(time < (percent < 200 ? 30_000 : 9_000), "detected after \(time) ms of it")
        // The spread comes only from the drift that the timeline follows.
        let spread = (sender.delays.max() ?? 0) - (sender.delays.min() ?? 0)
        #expect(spread < 60_000_000, "\(spread / 1_000_000) ms")
    }

    @Test(
        "a file pushed too fast, with audio late, short or with a gap, is read at most 3 s ahead; arrivals follow timestamps within 0.5 s",
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

    @Test(
        "an audio-only publisher far ahead is paused, its arrival times move by at most 30 s, and the publication's end ends the pause"
    )
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
        #expect(isChanged && !pace.isHeld, "the next publication starts anew")
    }

    @Test("a publisher with more than 24 MiB undecoded is paused until it has less than 16 MiB")
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
