import Program
import Testing

@Suite("Lateness: how far a decoder is behind, whatever its source's timeline does")
struct PlacingTests {
    private static let second: Int64 = 1_000_000_000

    @Test("a packet is late from when it was due and here, whichever came last")
    func late() {
        let placing = LatenessFilter()
        #expect(placing.lateness(due: 3 * Self.second, arrival: 2 * Self.second, now: 4 * Self.second) == Self.second)
        #expect(placing.lateness(due: Self.second, arrival: 3 * Self.second, now: 4 * Self.second) == Self.second)
        #expect(placing.lateness(due: 0, arrival: nil, now: 4 * Self.second) == 0, "a file is never late")
    }

    @Test("a publisher is shown no earlier than its jitter buffer allows: what is due before it comes is never heard")
    func earliest() {
        let stage = StageRun.idle(offset: -Self.second)
        #expect(stage.wantedOffset == -120_000_000, "200 ms less 80")
        for (wanted, offset) in [(-10_000, -120), (-120, -120), (-100, -100), (0, 0), (10_000, 10_000)] {
            stage.setOffset(milliseconds: wanted)
            #expect(stage.wantedOffset == Int64(offset) * 1_000_000, "\(wanted)")
        }
    }

    @Test("a publisher's jitter buffer is no shorter than the program mixes ahead", arguments: [0, 20, 80, 200, 5_000])
    func shortest(milliseconds: Int64) {
        let stage = StageRun.idle(offset: -Self.second, jitterBuffer: milliseconds * 1_000_000)
        #expect(stage.jitterBuffer == max(80, milliseconds) * 1_000_000)
        #expect(stage.wantedOffset == max(-1_000, 80 - max(80, milliseconds)) * 1_000_000)
    }

    @Test("a publisher that goes while its decoder is behind is not behind for as long as it is gone")
    func gone() {
        let lateness = StageRun.lateness(looks: 3)
        #expect(lateness[1] > 3_000 * Self.second, "its last packet was late")
        #expect(lateness[2] == 0)
    }

    @Test("what a timeline that settles, moves or is moved makes due in the past is not late, and what waits on is")
    func moved() {
        var placing = LatenessFilter()
        placing.note(isSettling: true, reanchors: 0, offset: 0, at: Self.second)
        #expect(placing.lateness(due: 0, arrival: 0, now: Self.second) == Self.second, "nothing has moved")
        let changes: [(isSettling: Bool, reanchors: Int, offset: Int64)] = [
            (false, 0, 0), (false, 1, 0), (false, 1, 7), (true, 1, 7),
        ]
        for (index, change) in changes.enumerated() {
            let now = Int64(index + 2) * 10 * Self.second
            placing.note(
                isSettling: change.isSettling, reanchors: change.reanchors, offset: change.offset, at: now)
            #expect(placing.lateness(due: 0, arrival: 0, now: now) == 0)
            #expect(placing.lateness(due: 0, arrival: 0, now: now + Self.second) == Self.second)
        }
    }

    /// A decoder that takes 5 ms for a picture of 30 a second, given so many of them at once by a step of the timeline.
    private static func worst(pictures: Int64, step: Int64, decoding: Int64 = 5_000_000) -> Int64 {
        var placing = LatenessFilter()
        var (now, next, worst) = (10 * Self.second, Int64(0), Int64(0))
        placing.note(isSettling: true, reanchors: 1, offset: 0, at: now)
        while next < pictures + 60 {
            let due = 10 * Self.second + (next - pictures) * step
            if due > now {
                placing.caughtUp()
                now = due
            }
            worst = max(worst, placing.lateness(due: due, arrival: 9 * Self.second, now: now))
            now += decoding
            next += 1
        }
        return worst
    }

    @Test("two seconds of pictures that a step of the timeline makes due at once are no overload; a slow decoder is")
    func workedOff() {
        #expect(Self.worst(pictures: 60, step: 33_333_333) == 0)
        #expect(Self.worst(pictures: 60, step: 33_333_333, decoding: 40_000_000) > Self.second)
        #expect(Self.worst(pictures: 0, step: 33_333_333, decoding: 60_000_000) > Self.second)
    }

    @Test("who has worked off what was due at once is late again with the next packet that is")
    func lateAgain() {
        var placing = LatenessFilter()
        placing.note(isSettling: true, reanchors: 1, offset: 0, at: 10 * Self.second)
        let now = 10 * Self.second + 400_000_000
        #expect(placing.lateness(due: 9 * Self.second, arrival: 9 * Self.second, now: now) == 0)
        placing.caughtUp()
        #expect(placing.lateness(due: now - 7, arrival: 9 * Self.second, now: now) == 7)
    }
}
