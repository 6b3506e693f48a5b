import Room
import Testing

@Suite("RoomIdle: when a room without publishers ends")
struct RoomIdleTests {
    private static let second = Kit.second
    private static let rules = RoomIdle.Rules(firstSource: 60 * Self.second, idle: 10 * Self.second)

    @Test("a new room waits for its first publisher for the set time, then its end is reported once")
    func nobodyCame() {
        var idle = RoomIdle(hasHadSource: false)
        #expect(
            idle.noted(isAnybodyThere: false, Self.rules, now: 5 * Self.second) == nil, "it counts from the first poll")
        #expect(idle.noted(isAnybodyThere: false, Self.rules, now: 65 * Self.second - 1) == nil)
        #expect(idle.noted(isAnybodyThere: false, Self.rules, now: 65 * Self.second) == .nobodyCame(60 * Self.second))
        #expect(idle.noted(isAnybodyThere: false, Self.rules, now: 99 * Self.second) == nil, "told once")
    }

    @Test("after the first publisher the idle timeout applies, counted from when the last publisher left")
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

    @Test(
        "the idle timeout applies in a successor of a room that has had a publisher, although none has published to it")
    func successor() {
        var idle = RoomIdle(hasHadSource: true)
        _ = idle.noted(isAnybodyThere: false, Self.rules, now: 0)
        #expect(
            idle.noted(isAnybodyThere: false, Self.rules, now: 10 * Self.second) == .everybodyLeft(10 * Self.second))
    }

    @Test(
        "without an idle timeout the room does not end; one that is set later counts from when the last publisher left"
    )
    func changed() {
        var idle = RoomIdle(hasHadSource: true)
        _ = idle.noted(isAnybodyThere: false, RoomIdle.Rules(), now: 0)
        #expect(idle.noted(isAnybodyThere: false, RoomIdle.Rules(), now: 1_000_000 * Self.second) == nil)
        #expect(
            idle.noted(isAnybodyThere: false, Self.rules, now: 1_000_001 * Self.second)
                == .everybodyLeft(10 * Self.second))
    }
}
