import Room
import RoomAPI
import Testing

@Suite("How long media takes to viewers")
struct LatencyTrackerTests {
    @Test("in a room that publishes no segments nothing piles up, however irregularly new pictures come")
    func bound() {
        var tracker = LatencyTracker(tracks: 1)
        for tick in Int64(0)..<100_000 where tick % 3 != 0 { tracker.composed(tick: tick, arrival: tick) }
        #expect(tracker.waiting > 1_000 && tracker.waiting <= 8_192)
    }
}
