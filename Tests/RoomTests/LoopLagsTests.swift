import Room
import Testing

@Suite("What shows that a room's loops advance")
struct LoopLagsTests {
    private static let second: Int64 = 1_000_000_000

    @Test("an encoder that hangs is found, although the tick loop goes on")
    func encoder() {
        let working = LoopLags(tick: 4_000_000, encoder: 4 * Self.second)
        #expect(working.isAlive, "as far behind as a full queue makes it")
        let hanging = LoopLags(tick: 4_000_000, encoder: LoopLags.encoderLimit)
        #expect(!hanging.isAlive)
        #expect(hanging.checks == ["tick": "4 ms behind the clock", "encoders": "10000 ms behind the clock"])
    }

    @Test("a tick loop that hangs is found, with encoders and without")
    func tick() {
        #expect(LoopLags(tick: LoopLags.tickLimit - 1).isAlive)
        #expect(!LoopLags(tick: LoopLags.tickLimit).isAlive)
        #expect(!LoopLags(tick: LoopLags.tickLimit, encoder: 0).isAlive)
    }

    @Test("an end that is overdue is one that hangs, whatever the loops did before")
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
