import Room
import RoomSources
import Testing

@Suite("Rate limit of events that a publisher can repeat")
struct EventThrottleTests {
    @Test(
        "EventThrottle passes three events at once, then one a second with the number suppressed; a last report counts those left over"
    )
    func throttle() {
        let second: Int64 = 1_000_000_000
        var throttle = EventThrottle(now: 0)
        // 240 events a second for 8 seconds, as from a publisher whose timestamps jump with every packet.
        let told = (0..<1_920).compactMap { throttle.happened(now: Int64($0) * second / 240) }
        #expect(told.count == 3 + 7)
        let left = throttle.due(now: 9 * second)
        #expect(told.reduce(0, +) + (left ?? 0) == 1_920, "none is lost")
        #expect(throttle.due(now: 20 * second) == nil, "nothing is pending")
        #expect(throttle.happened(now: 20 * second) == 1)
    }
}
