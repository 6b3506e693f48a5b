import Room
import RoomAPI
import Testing

@Suite("Latency of frames and parts")
struct PartLatencyTests {
    @Test("frames that never become part of a part are forgotten, so memory stays limited")
    func bounded() {
        var latency = PartLatency(tracks: 2)
        // A minute of frames, then a minute without: no frame remains that could remove another one's entry.
        for minute in Int64(0)..<100 where minute.isMultiple(of: 2) {
            for tick in minute * 1_200..<(minute + 1) * 1_200 { latency.entered(track: 1, tick: tick, at: tick) }
        }
        #expect(latency.remembered >= 1_200 && latency.remembered <= 2_400)
    }
}
