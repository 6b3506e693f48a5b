import MediaTypes
import Program
import Testing

@Suite("SourceTimeline: one mapping to program time for all tracks of a source")
struct SourceTimelineTests {
    private let ms: Int64 = 1_000_000

    private func timeline(jitterMs: Int64 = 200, offsetMs: Int64 = 0) -> SourceTimeline {
        SourceTimeline(jitterBuffer: jitterMs * self.ms, offset: offsetMs * self.ms)
    }

    @Test("a source's first packet is due one jitter buffer after its arrival; the other track uses the same mapping")
    func anchorsOnFirstPacket() {
        var timeline = self.timeline()
        let first = timeline.map(kind: .audio, pts: 5_000 * self.ms, dts: 5_000 * self.ms, arrival: 1_000 * self.ms)
        #expect(first.pts == 1_200 * self.ms)
        let second = timeline.map(kind: .video, pts: 5_040 * self.ms, dts: 5_000 * self.ms, arrival: 1_090 * self.ms)
        #expect(second.pts == 1_240 * self.ms && second.dts == 1_200 * self.ms)
        #expect(!second.isReanchored)
    }

    @Test("arrival jitter does not move a source's mapping of timestamps to program time", arguments: [0, 10, 60, 190])
    func jitterIsAbsorbed(lateMs: Int64) {
        var timeline = self.timeline()
        _ = timeline.map(kind: .video, pts: 0, dts: 0, arrival: 0)
        for frame in 1...100 {
            let time = Int64(frame) * 33 * self.ms
            let arrival = time + (frame.isMultiple(of: 3) ? lateMs * self.ms : 0)
            #expect(timeline.map(kind: .video, pts: time, dts: time, arrival: arrival).pts == time + 200 * self.ms)
        }
    }

    @Test(
        "a timestamp jump maps the timeline anew once, at the current time",
        arguments: [60_000, -8_000, 4_000_000] as [Int64])
    func jumpsReanchor(jumpMs: Int64) {
        var timeline = self.timeline()
        _ = timeline.map(kind: .video, pts: 10_000 * self.ms, dts: 10_000 * self.ms, arrival: 0)
        let before = timeline.map(kind: .video, pts: 10_033 * self.ms, dts: 10_033 * self.ms, arrival: 33 * self.ms)
        let at = (10_066 + jumpMs) * self.ms
        let jumped = timeline.map(kind: .video, pts: at, dts: at, arrival: 66 * self.ms)
        #expect(jumped.isReanchored)
        #expect(jumped.pts == 266 * self.ms && before.pts == 233 * self.ms)
        let audio = timeline.map(kind: .audio, pts: at, dts: at, arrival: 67 * self.ms)
        #expect(!audio.isReanchored && audio.pts == jumped.pts, "the other track follows the same new anchor")
    }

    @Test("a pause that is as long in timestamps as in arrival times does not change the mapping")
    func pauseIsKept() {
        var timeline = self.timeline()
        _ = timeline.map(kind: .video, pts: 0, dts: 0, arrival: 0)
        let after = timeline.map(kind: .video, pts: 60_000 * self.ms, dts: 60_000 * self.ms, arrival: 60_000 * self.ms)
        #expect(!after.isReanchored && after.pts == 60_200 * self.ms)
    }

    @Test("packets that keep arriving late move a source's mapping to program time after half a second, not before")
    func persistentLatenessIsFollowed() {
        var timeline = self.timeline()
        _ = timeline.map(kind: .video, pts: 0, dts: 0, arrival: 0)
        var moved: [Int] = []
        for frame in 1...60 {
            let time = Int64(frame) * 33 * self.ms
            if timeline.map(kind: .video, pts: time, dts: time, arrival: time + 300 * self.ms).isReanchored {
                moved.append(frame)
            }
        }
        #expect(moved.count == 1)
        #expect((15...18).contains(moved.first ?? 0))
    }

    @Test("a source's offset is added to the time at which its packet is due")
    func offset() {
        var timeline = self.timeline(offsetMs: 40)
        #expect(timeline.map(kind: .video, pts: 0, dts: 0, arrival: 0).pts == 240 * self.ms)
    }

    @Test(
        "timestamps at and near the ends of Int64 do not trap in a source's timeline",
        arguments: [Int64.max, .min, .max / 2, .min / 2])
    func extremes(value: Int64) {
        var timeline = self.timeline()
        for arrival in [0, 1, value] {
            _ = timeline.map(kind: .video, pts: value, dts: value, arrival: arrival)
            _ = timeline.map(kind: .audio, pts: 0 &- value, dts: 0, arrival: arrival)
        }
    }
}
