import Room
import RoomAPI
import Testing

@Suite("Latency from publishers to viewers")
struct LatencyTrackerTests {
    @Test("without segments, LatencyTracker tracks at most 8,192 frames")
    func bound() {
        var tracker = LatencyTracker(tracks: 1)
        for tick in Int64(0)..<100_000 where tick % 3 != 0 { tracker.composed(tick: tick, arrival: tick) }
        #expect(tracker.waiting > 1_000 && tracker.waiting <= 8_192)
    }
}
