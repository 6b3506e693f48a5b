import Room
import RoomSources
import Testing

@Suite("Events that a publisher can make happen again and again")
struct EventThrottleTests {
    @Test("three at once, then one a second that counts those before it; what is left is told when its time has come")
    func throttle() {
        let second: Int64 = 1_000_000_000
        var throttle = EventThrottle(now: 0)
        // 240 a second for 8 seconds, as a publisher does whose timestamps jump with every packet.
        let told = (0..<1_920).compactMap { throttle.happened(now: Int64($0) * second / 240) }
        #expect(told.count == 3 + 7)
        let left = throttle.due(now: 9 * second)
        #expect(told.reduce(0, +) + (left ?? 0) == 1_920, "none is lost")
        #expect(throttle.due(now: 20 * second) == nil, "nothing is held")
        #expect(throttle.happened(now: 20 * second) == 1)
    }
}
