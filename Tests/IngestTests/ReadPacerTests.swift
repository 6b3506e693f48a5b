import Ingest
import Testing

@Suite("When a publisher's bytes are read: SO_RCVLOWAT")
struct ReadPacerTests {
    private static let millisecond: Int64 = 1_000_000

    /// Two megabits per second: 30 pictures of 8 kB, and sound in between.
    private func feed(_ pacer: inout ReadPacer, from start: Int64, seconds: Int64) -> [Int] {
        var marks: [Int] = []
        for picture in 0..<(seconds * 30) {
            let time = start + picture * 1_000 * Self.millisecond / 30
            if let mark = pacer.received(170, missing: 0, now: time + 12 * Self.millisecond) { marks.append(mark) }
            if let mark = pacer.received(8_000, missing: 0, now: time + 20 * Self.millisecond) { marks.append(mark) }
        }
        return marks
    }

    @Test(
        "for two seconds everything is told; then what is sent in half the patience, as a power of two, and that stays")
    func mark() {
        var pacer = ReadPacer(patience: 40 * Self.millisecond, now: 0)
        #expect(self.feed(&pacer, from: 0, seconds: 1) == [])
        #expect(pacer.mark == 1)
        // 245,100 bytes a second in 20 ms are 4,902.
        #expect(self.feed(&pacer, from: 1_000 * Self.millisecond, seconds: 9) == [4_096])
        #expect(pacer.mark == 4_096)
    }

    @Test("the end of a message is never waited with")
    func missing() {
        var pacer = ReadPacer(patience: 40 * Self.millisecond, now: 0)
        _ = self.feed(&pacer, from: 0, seconds: 3)
        let now = 3_000 * Self.millisecond
        #expect(pacer.received(5_000, missing: 3_000, now: now) == 3_000)
        #expect(pacer.received(2_999, missing: 1, now: now) == 1)
        #expect(pacer.received(1, missing: 0, now: now) == 4_096)
        // So much is missing that the mark comes first.
        #expect(pacer.received(5_000, missing: 900_000, now: now) == nil)
    }

    @Test("what is too little is read when it has waited for the patience; after that everything is told again, once")
    func patience() {
        var pacer = ReadPacer(patience: 40 * Self.millisecond, now: 0)
        _ = self.feed(&pacer, from: 0, seconds: 3)
        let last = 3_000 * Self.millisecond
        _ = pacer.received(8_000, missing: 0, now: last)
        #expect(pacer.waited(now: last + 39 * Self.millisecond) == nil)
        #expect(pacer.waited(now: last + 40 * Self.millisecond) == 1)
        #expect(pacer.waited(now: last + 80 * Self.millisecond) == nil)
        #expect(pacer.received(170, missing: 0, now: last + 90 * Self.millisecond) == 4_096)
    }

    @Test("a publisher that becomes slow is waited for less, one that sends next to nothing not at all")
    func rates() {
        var pacer = ReadPacer(patience: 40 * Self.millisecond, now: 0)
        _ = self.feed(&pacer, from: 0, seconds: 3)
        var now = 3_000 * Self.millisecond
        for _ in 0..<50 {
            now += 21 * Self.millisecond
            _ = pacer.received(180, missing: 0, now: now)
        }
        #expect(pacer.mark == 128)
        for _ in 0..<4 {
            now += 500 * Self.millisecond
            _ = pacer.received(100, missing: 0, now: now)
        }
        #expect(pacer.mark == 1)
    }

    @Test("the mark has a bound, whatever comes, and no patience is no mark")
    func bounds() {
        var pacer = ReadPacer(patience: 40 * Self.millisecond, now: 0)
        for second in 1...10 {
            _ = pacer.received(.max / 16, missing: 0, now: Int64(second) * 1_000 * Self.millisecond)
        }
        #expect(pacer.mark == ReadPacer.mostBytes)
        var impatient = ReadPacer(patience: 0, now: 0)
        #expect(self.feed(&impatient, from: 0, seconds: 5) == [])
        #expect(impatient.waited(now: 60_000 * Self.millisecond) == nil)
    }
}
