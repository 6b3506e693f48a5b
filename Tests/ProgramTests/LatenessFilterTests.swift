import Program
import Testing

@Suite("How late a decoder is, regardless of steps in its source's timeline")
struct LatenessFilterTests {
    private static let second: Int64 = 1_000_000_000

    @Test(
        "a decoder's lateness counts from the packet's due time or its arrival, whichever is later; a file is never late"
    )
    func late() {
        let placing = LatenessFilter()
        #expect(placing.lateness(due: 3 * Self.second, arrival: 2 * Self.second, now: 4 * Self.second) == Self.second)
        #expect(placing.lateness(due: Self.second, arrival: 3 * Self.second, now: 4 * Self.second) == Self.second)
        #expect(placing.lateness(due: 0, arrival: nil, now: 4 * Self.second) == 0, "a file is never late")
    }

    @Test("a source's negative offset is limited to its jitter buffer minus the mixer's lead")
    func earliest() {
        let stage = StageRun.idle(offset: -Self.second)
        #expect(stage.wantedOffset == -120_000_000, "200 ms less 80")
        for (wanted, offset) in [(-10_000, -120), (-120, -120), (-100, -100), (0, 0), (10_000, 10_000)] {
            stage.setOffset(milliseconds: wanted)
            #expect(stage.wantedOffset == Int64(offset) * 1_000_000, "\(wanted)")
        }
    }

    @Test(
        "a publisher's jitter buffer is at least as long as the mixer's lead of 80 ms",
        arguments: [0, 20, 80, 200, 5_000])
    func shortest(milliseconds: Int64) {
        let stage = StageRun.idle(offset: -Self.second, jitterBuffer: milliseconds * 1_000_000)
        #expect(stage.jitterBuffer == max(80, milliseconds) * 1_000_000)
        #expect(stage.wantedOffset == max(-1_000, 80 - max(80, milliseconds)) * 1_000_000)
    }

    @Test("after a publisher has left, its decoder does not count as late")
    func gone() {
        let lateness = StageRun.lateness(looks: 3)
        #expect(lateness[1] > 3_000 * Self.second, "its last packet was late")
        #expect(lateness[2] == 0)
    }

    @Test("packets that a timeline step makes due in the past do not count as late, but a longer wait does")
    func moved() {
        var placing = LatenessFilter()
        placing.note(isSettling: true, reanchors: 0, offset: 0, at: Self.second)
        #expect(placing.lateness(due: 0, arrival: 0, now: Self.second) == Self.second, "the timeline has not moved")
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

    /// The largest lateness of a decoder that takes `decoding` nanoseconds per frame, when a step of the timeline makes
    /// `frames` frames due at once.
    private static func worst(frames: Int64, step: Int64, decoding: Int64 = 5_000_000) -> Int64 {
        var placing = LatenessFilter()
        var (now, next, worst) = (10 * Self.second, Int64(0), Int64(0))
        placing.note(isSettling: true, reanchors: 1, offset: 0, at: now)
        while next < frames + 60 {
            let due = 10 * Self.second + (next - frames) * step
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

    @Test("a timeline step that makes 60 frames due at once does not count as overload, a slow decoder does")
    func workedOff() {
        #expect(Self.worst(frames: 60, step: 33_333_333) == 0)
        #expect(Self.worst(frames: 60, step: 33_333_333, decoding: 40_000_000) > Self.second)
        #expect(Self.worst(frames: 0, step: 33_333_333, decoding: 60_000_000) > Self.second)
    }

    @Test("once the decoder has caught up after a timeline step, lateness counts again")
    func lateAgain() {
        var placing = LatenessFilter()
        placing.note(isSettling: true, reanchors: 1, offset: 0, at: 10 * Self.second)
        let now = 10 * Self.second + 400_000_000
        #expect(placing.lateness(due: 9 * Self.second, arrival: 9 * Self.second, now: now) == 0)
        placing.caughtUp()
        #expect(placing.lateness(due: now - 7, arrival: 9 * Self.second, now: now) == 7)
    }
}
