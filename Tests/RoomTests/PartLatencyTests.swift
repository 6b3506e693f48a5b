import Room
import RoomAPI
import Testing

@Suite("PartLatency: entry times of frames")
struct PartLatencyTests {
    @Test("entry times of frames that no part includes are forgotten: at most 2,400 are remembered")
    func bounded() {
        var latency = PartLatency(tracks: 2)
        // 1,200 frames, then 1,200 ticks without any: no later tick removes the entries of these frames.
        for minute in Int64(0)..<100 where minute.isMultiple(of: 2) {
            for tick in minute * 1_200..<(minute + 1) * 1_200 { latency.entered(track: 1, tick: tick, at: tick) }
        }
        #expect(latency.remembered >= 1_200 && latency.remembered <= 2_400)
    }
}
