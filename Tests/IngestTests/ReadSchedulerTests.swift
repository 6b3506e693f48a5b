import Ingest
import Testing

@Suite("ReadScheduler: when a publisher's bytes are read, by SO_RCVLOWAT or a timer")
struct ReadSchedulerTests {
    private static let millisecond: Int64 = 1_000_000

    /// Two megabits per second: 30 frames of 8 kB, with audio between them.
    private func feed(
        _ pacer: inout ReadScheduler, from start: Int64, seconds: Int64, isAway: Bool = false
    ) -> [Int] {
        var marks: [Int] = []
        for picture in 0..<(seconds * 30) {
            let time = start + picture * 1_000 * Self.millisecond / 30
            for (bytes, later) in [(170, Int64(12)), (8_000, 20)] {
                let now = time + later * Self.millisecond
                if let mark = pacer.received(bytes, missing: 0, isAway: isAway, now: now) { marks.append(mark) }
            }
        }
        return marks
    }

    private static func pacer(usual: Int64 = 40, away: Int64 = 100, number: Int = 0) -> ReadScheduler {
        ReadScheduler(
            patience: ReadDelayLimits(usual: usual * self.millisecond, away: away * self.millisecond), number: number,
            interval: 20 * self.millisecond, now: 0)
    }

    @Test(
        "at first every byte wakes the reader; later SO_RCVLOWAT is set to about the data of half the read delay")
    func mark() {
        var pacer = Self.pacer()
        #expect(self.feed(&pacer, from: 0, seconds: 1) == [])
        #expect(pacer.mark == 1)
        // 245,100 bytes a second are 4,902 in 20 ms.
        #expect(self.feed(&pacer, from: 1_000 * Self.millisecond, seconds: 9) == [4_096])
        #expect(pacer.mark == 4_096)
    }

    @Test("SO_RCVLOWAT is lowered to the bytes missing from a message, so that its end is not delayed")
    func missing() {
        var pacer = Self.pacer()
        _ = self.feed(&pacer, from: 0, seconds: 3)
        let now = 3_000 * Self.millisecond
        #expect(pacer.received(5_000, missing: 3_000, isAway: false, now: now) == 3_000)
        #expect(pacer.received(2_999, missing: 1, isAway: false, now: now) == 1)
        #expect(pacer.received(1, missing: 0, isAway: false, now: now) == 4_096)
        // So much is missing that the mark is reached first.
        #expect(pacer.received(5_000, missing: 900_000, isAway: false, now: now) == nil)
    }

    @Test("data below SO_RCVLOWAT is read after the read delay: SO_RCVLOWAT is then 1 until the next read")
    func patience() {
        var pacer = Self.pacer()
        _ = self.feed(&pacer, from: 0, seconds: 3)
        let last = 3_000 * Self.millisecond
        _ = pacer.received(8_000, missing: 0, isAway: false, now: last)
        #expect(pacer.looked(turn: 5, now: last + 39 * Self.millisecond) == .nothing)
        #expect(pacer.looked(turn: 6, now: last + 40 * Self.millisecond) == .tell)
        #expect(pacer.told() == 1)
        #expect(pacer.told() == nil)
        #expect(pacer.looked(turn: 8, now: last + 80 * Self.millisecond) == .nothing)
        #expect(pacer.received(170, missing: 0, isAway: false, now: last + 90 * Self.millisecond) == 4_096)
    }

    @Test(
        "the timer is needed again when data has waited for the read delay, and no later than the read delay plus one tick"
    )
    func ticksToWait() {
        var pacer = Self.pacer()
        #expect(pacer.ticksToWait(now: 0) == 3, "nothing waits, but a read may leave data at once")
        _ = self.feed(&pacer, from: 0, seconds: 3)
        let last = 3_000 * Self.millisecond
        _ = pacer.received(8_000, missing: 0, isAway: false, now: last)
        for (later, ticks) in [(Int64(0), 2), (1, 2), (20, 1), (39, 1), (40, 1), (500, 1)] {
            #expect(pacer.ticksToWait(now: last + later * Self.millisecond) == ticks, "\(later) ms later")
        }
        _ = pacer.received(8_000, missing: 0, isAway: true, now: last)
        #expect(pacer.ticksToWait(now: last) == 1, "a hidden source may be read at any tick")
        let impatient = Self.pacer(usual: 16)
        #expect(impatient.ticksToWait(now: 0) == 1)
    }

    @Test("SO_RCVLOWAT falls when a publisher slows down, to 1 if it sends next to nothing")
    func rates() {
        var pacer = Self.pacer()
        _ = self.feed(&pacer, from: 0, seconds: 3)
        var now = 3_000 * Self.millisecond
        for _ in 0..<50 {
            now += 21 * Self.millisecond
            _ = pacer.received(180, missing: 0, isAway: false, now: now)
        }
        #expect(pacer.mark == 128)
        for _ in 0..<4 {
            now += 500 * Self.millisecond
            _ = pacer.received(100, missing: 0, isAway: false, now: now)
        }
        #expect(pacer.mark == 1)
    }

    @Test("SO_RCVLOWAT has an upper limit, and is not set if the read delay is 0")
    func bounds() {
        var pacer = Self.pacer()
        for second in 1...10 {
            _ = pacer.received(.max / 16, missing: 0, isAway: false, now: Int64(second) * 1_000 * Self.millisecond)
        }
        #expect(pacer.mark == ReadScheduler.mostBytes)
        var impatient = Self.pacer(usual: 0)
        #expect(self.feed(&impatient, from: 0, seconds: 5) == [])
        #expect(impatient.looked(turn: 3_000, now: 60_000 * Self.millisecond) == .nothing)
    }

    @Test("a source that is not shown is read at every fifth timer turn; its connection's number decides at which")
    func away() {
        for number in [0, 1, 4, 5, 1_003] {
            var pacer = Self.pacer(number: number)
            let marks = self.feed(&pacer, from: 0, seconds: 3, isAway: true)
            #expect(marks == [ReadScheduler.distantBytes], "once, and out of reach")
            let now = 3_000 * Self.millisecond
            var read: [Int] = []
            for turn in 0..<20 {
                let time = now + Int64(turn) * 20 * Self.millisecond
                guard pacer.looked(turn: turn, now: time) == .read else { continue }
                read.append(turn)
                let mark = pacer.received(24_500, missing: 300, isAway: true, now: time)
                #expect(mark == nil, "the end of a message is like any other byte")
            }
            #expect(read == stride(from: number % 5, to: 20, by: 5).map { $0 })
        }
    }

    @Test("a new source that is not shown is read at every timer turn for a second, so that its jitter can be measured")
    func newAndAway() {
        var pacer = Self.pacer()
        #expect(pacer.looked(turn: 3, now: 0) == .nothing, "it is not marked as hidden")
        #expect(pacer.received(200, missing: 0, isAway: true, now: 0) == ReadScheduler.distantBytes)
        for turn in 1...50 {
            let now = Int64(turn) * 20 * Self.millisecond
            #expect(pacer.looked(turn: turn, now: now) == .read)
            #expect(pacer.received(200, missing: 0, isAway: true, now: now) == nil)
        }
        let read = (51...60).filter { pacer.looked(turn: $0, now: 1_000 * Self.millisecond) == .read }
        #expect(read == [55, 60])
    }

    @Test(
        "a source that is not shown is read more often the higher its bit rate, about the same amount each time",
        arguments: [(8, 12), (125, 12), (250, 12), (500, 6), (1_000, 3), (1_250, 2), (2_500, 1), (40_000, 1)])
    func rateAway(kilobytes: Int, turns: Int) {
        var pacer = Self.pacer(away: 250)
        let inTurn = kilobytes * 20
        // Reads during one second, and some of the second window.
        for turn in 1...100 {
            _ = pacer.received(inTurn, missing: 0, isAway: true, now: Int64(turn) * 20 * Self.millisecond)
        }
        let read = (120..<240).filter { pacer.looked(turn: $0, now: 0) == .read }
        // More than one read can take may have left data.
        let isFull = inTurn >= ReadScheduler.readBytes
        #expect(read == stride(from: 120, to: 240, by: isFull ? 1 : turns).map { $0 })
        #expect(inTurn * turns <= ReadScheduler.mostBytes || turns == 1)
    }

    @Test("a source that is not shown is read again at the next timer turn if it had no data or filled a whole read")
    func quiet() {
        var pacer = Self.pacer()
        _ = self.feed(&pacer, from: 0, seconds: 3, isAway: true)
        #expect(pacer.looked(turn: 6, now: 0) == .nothing)
        pacer.foundNothing()
        #expect((6...9).allSatisfy { pacer.looked(turn: $0, now: 0) == .read })
        _ = pacer.received(24_500, missing: 0, isAway: true, now: 3_100 * Self.millisecond)
        #expect(pacer.looked(turn: 11, now: 0) == .nothing)
        _ = pacer.received(ReadScheduler.readBytes, missing: 0, isAway: true, now: 3_200 * Self.millisecond)
        #expect(pacer.looked(turn: 11, now: 0) == .read)
    }

    @Test(
        "if the read delay of a source that is not shown is shorter than a timer turn, the timer does not read its socket"
    )
    func short() {
        var pacer = Self.pacer(usual: 8, away: 19)
        let marks = self.feed(&pacer, from: 0, seconds: 3, isAway: true)
        #expect(marks == [512])
        #expect(!pacer.isAway)
    }

    @Test(
        "a source changes between the read pace of shown and hidden sources at its next read, or to shown at once on request"
    )
    func comesOnAir() {
        var pacer = Self.pacer()
        _ = self.feed(&pacer, from: 0, seconds: 3, isAway: true)
        #expect(pacer.isAway)
        let now = 3_000 * Self.millisecond
        #expect(pacer.received(24_500, missing: 0, isAway: false, now: now) == 4_096)
        #expect(!pacer.isAway)
        #expect(pacer.looked(turn: 5, now: now + 39 * Self.millisecond) == .nothing, "with its own patience")
        #expect(pacer.received(8_000, missing: 0, isAway: true, now: now + 40 * Self.millisecond) ?? 1 > 40_000)
        #expect(pacer.cameBack() == 1)
        #expect(!pacer.isAway)
        #expect(pacer.looked(turn: 5, now: now + 80 * Self.millisecond) == .nothing, "every byte wakes it")
    }

    @Test(
        "the read delay is a fifth of the jitter buffer and at most 40 ms; a source that is not shown may wait longer",
        arguments: [(0, 0, 0), (40, 8, 50), (200, 40, 250), (2_000, 40, 250)] as [(Int64, Int64, Int64)])
    func patience(ofJitterBuffer milliseconds: Int64, usual: Int64, away: Int64) {
        let patience = ReadDelayLimits(jitterBuffer: milliseconds * Self.millisecond)
        #expect(patience == ReadDelayLimits(usual: usual * Self.millisecond, away: away * Self.millisecond))
    }
}
