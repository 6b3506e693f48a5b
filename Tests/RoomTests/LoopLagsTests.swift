import Room
import RoomAPI
import Testing

@Suite("Detection of stuck tick loops and encoders")
struct LoopLagsTests {
    private static let second: Int64 = 1_000_000_000

    private static func loop(_ behind: Int64, still: Int64? = nil) -> LoopLags.Loop {
        LoopLags.Loop(behind: behind, still: still ?? behind)
    }

    @Test("a worker whose encoder has not advanced for ten seconds is not alive, although its tick loop runs")
    func encoder() {
        let tick = Self.loop(4_000_000)
        #expect(LoopLags(tick: tick, encoder: Self.loop(4 * Self.second)).isAlive, "as far as a full queue makes it")
        let hanging = LoopLags(tick: tick, encoder: Self.loop(LoopLags.encoderLimit))
        #expect(!hanging.isAlive)
        #expect(
            hanging.checks == [
                "tick": "4 ms behind the clock", "encoders": "10000 ms behind the clock, no progress for 10 s",
            ])
    }

    @Test("a worker whose tick loop has made no progress for three seconds is not alive, with and without encoders")
    func tick() {
        #expect(LoopLags(tick: Self.loop(LoopLags.tickLimit - 1)).isAlive)
        #expect(!LoopLags(tick: Self.loop(LoopLags.tickLimit)).isAlive)
        #expect(!LoopLags(tick: Self.loop(LoopLags.tickLimit), encoder: Self.loop(0)).isAlive)
    }

    @Test(
        "until the next tick is due the program is not behind, at any frame rate; a second later it is a second behind",
        arguments: [1, 5, 30, 60])
    func ticksThatLast(fps: Int) {
        let due = 7 * Self.second
        let tick = 7 * Int64(fps)
        let next = due + Self.second / Int64(fps)
        for now in [due, next - 1, next] { #expect(LoopLags.behind(showing: tick, fps: fps, now: now) == 0) }
        #expect(LoopLags.behind(showing: tick, fps: fps, now: next + Self.second) >= Self.second - 1)
    }

    @Test("a worker whose loops are 20 s behind but advance is alive")
    func catchingUp() {
        let lags = LoopLags(
            tick: Self.loop(20 * Self.second, still: 33_000_000),
            encoder: Self.loop(19 * Self.second, still: LoopLags.encoderLimit - 1))
        #expect(lags.isAlive)
    }

    @Test("the time without progress of the program's or an encoder's loop counts from the first check at its position")
    func standstill() {
        var progress = LoopProgress()
        #expect(progress.standstill(at: 5, now: 100) == 0)
        #expect(progress.standstill(at: 5, now: 3_100) == 3_000)
        #expect(progress.standstill(at: 6, now: 3_200) == 0)
        #expect(progress.standstill(at: 6, now: 3_300) == 100)
    }

    @Test("an ending worker is alive until its end is overdue, and its check says how many seconds are left or over")
    func overdue() {
        let inTime = LoopLags(overdue: -2 * Self.second)
        #expect(inTime.isAlive && inTime.checks == ["end": "2 s left"])
        let late = LoopLags(overdue: 3 * Self.second)
        #expect(!late.isAlive && late.checks == ["end": "3 s overdue"])
        #expect(!LoopLags(overdue: 0).isAlive)
    }

    @Test("a room that waits for its first source is alive")
    func waiting() {
        #expect(LoopLags().isAlive)
        #expect(LoopLags().checks == ["tick": "waiting for the first source"])
    }
}
