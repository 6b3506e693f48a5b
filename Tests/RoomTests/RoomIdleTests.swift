import Room
import Testing

@Suite("A room nobody publishes to")
struct RoomIdleTests {
    private static let second = Kit.second
    private static let rules = RoomIdle.Rules(firstSource: 60 * Self.second, idle: 10 * Self.second)

    @Test("a new room waits for its first publisher as long as it says, and is over once")
    func nobodyCame() {
        var idle = RoomIdle(hasHadSource: false)
        #expect(
            idle.noted(isAnybodyThere: false, Self.rules, now: 5 * Self.second) == nil, "it counts from the first look")
        #expect(idle.noted(isAnybodyThere: false, Self.rules, now: 65 * Self.second - 1) == nil)
        #expect(idle.noted(isAnybodyThere: false, Self.rules, now: 65 * Self.second) == .nobodyCame(60 * Self.second))
        #expect(idle.noted(isAnybodyThere: false, Self.rules, now: 99 * Self.second) == nil, "told once")
    }

    @Test("once somebody was there the other time counts, anew whenever the last one has left")
    func everybodyLeft() {
        var idle = RoomIdle(hasHadSource: false)
        _ = idle.noted(isAnybodyThere: false, Self.rules, now: 0)
        _ = idle.noted(isAnybodyThere: true, Self.rules, now: 50 * Self.second)
        #expect(idle.noted(isAnybodyThere: false, Self.rules, now: 60 * Self.second) == nil)
        #expect(idle.noted(isAnybodyThere: false, Self.rules, now: 69 * Self.second) == nil)
        #expect(idle.noted(isAnybodyThere: true, Self.rules, now: 69 * Self.second) == nil, "back in time")
        #expect(idle.noted(isAnybodyThere: false, Self.rules, now: 100 * Self.second) == nil)
        #expect(
            idle.noted(isAnybodyThere: false, Self.rules, now: 110 * Self.second) == .everybodyLeft(10 * Self.second))
    }

    @Test("a successor does not wait for a first publisher: the room has had one")
    func successor() {
        var idle = RoomIdle(hasHadSource: true)
        _ = idle.noted(isAnybodyThere: false, Self.rules, now: 0)
        #expect(
            idle.noted(isAnybodyThere: false, Self.rules, now: 10 * Self.second) == .everybodyLeft(10 * Self.second))
    }

    @Test("without a rule it goes on for ever, and a rule that comes later counts from when it became quiet")
    func changed() {
        var idle = RoomIdle(hasHadSource: true)
        _ = idle.noted(isAnybodyThere: false, RoomIdle.Rules(), now: 0)
        #expect(idle.noted(isAnybodyThere: false, RoomIdle.Rules(), now: 1_000_000 * Self.second) == nil)
        #expect(
            idle.noted(isAnybodyThere: false, Self.rules, now: 1_000_001 * Self.second)
                == .everybodyLeft(10 * Self.second))
    }
}
