import PipelineSpec
import Room
import Testing

@Suite("Overload: optional work stops before the program is affected")
struct OptionalWorkPauseTests {
    private static let ms: Int64 = 1_000_000
    private static let poll: Int64 = 50 * Self.ms

    private typealias Work = OptionalWorkPause.Work

    /// When each work stopped and when the first overload step was taken, in milliseconds after the lag passed 400 ms.
    ///
    /// - Parameter growth: Growth of the lag in milliseconds per second, from 450 ms on.
    private static func times(growth: Int64) throws -> (work: [Work: Int64], step: Int64) {
        // A room without an output of type image or raw.
        let text = """
            {
              "room": { "roomId": "r" }, "sources": [ { "uid": "1001", "streamKey": "k1" } ],
              "scenes": [ { "sceneId": "solo", "layout": "solo", "uids": ["1001"] } ],
              "renditions": [ { "name": "720p", "width": 1280, "height": 720, "video": { "bitrate": 2000000 } } ],
              "outputs": [ { "path": "out" } ]
            }
            """
        let steps = Overload.steps(for: try Pipeline.parse(text).result.get(), renditions: [0])
        var overload = Overload(steps: steps, rules: Overload.Rules(limit: 400 * Self.ms))
        var pause = OptionalWorkPause()
        var work: [Work: Int64] = [:]
        // Six seconds without lag: the room has not just started.
        for poll in 0..<160 {
            let now = Int64(poll) * Self.poll, since = now - 6_000 * Self.ms
            let lag = since < 0 ? 0 : 450 * Self.ms + since / 1_000 * growth
            let actions = overload.noted(lag: lag, at: now)
            for paused in pause.step(overload, at: now) where work[paused] == nil { work[paused] = since / Self.ms }
            if !actions.isEmpty { return (work, since / Self.ms) }
        }
        return (work, .max)
    }

    @Test(
        "overlays, stills and the audio tap stop in this order before the first overload step, also in a room without optional outputs",
        arguments: [Int64(0), 100, 400])
    func order(growth: Int64) throws {
        let times = try Self.times(growth: growth)
        #expect(times.work == [.overlays: 250, .stills: 350, .audioTap: 450])
        #expect(times.step > 450 && times.step < 1_500)
    }

    @Test("while an overload step is in force, all optional work is stopped")
    func steps() {
        let held = Overload.InheritedLevel(steps: [.decoding], distance: 30_000 * Self.ms)
        let overload = Overload(
            steps: [.decoding, .hold], rules: Overload.Rules(limit: 400 * Self.ms), held: held)
        var pause = OptionalWorkPause()
        #expect(pause.step(overload, at: 0) == Set(Work.allCases))
    }

    @Test(
        "work that has stopped continues once the lag is within the limit, and the next time above it counts from its start"
    )
    func continues() {
        var overload = Overload(steps: [.decoding, .hold], rules: Overload.Rules(limit: 400 * Self.ms))
        var pause = OptionalWorkPause()
        func step(_ lag: Int64, at time: Int64) -> Set<Work> {
            _ = overload.noted(lag: lag * Self.ms, at: time * Self.ms)
            return pause.step(overload, at: time * Self.ms)
        }
        #expect(step(450, at: 0).isEmpty && step(450, at: 200).isEmpty)
        #expect(step(450, at: 300) == [.overlays])
        #expect(step(400, at: 350).isEmpty)
        #expect(step(450, at: 400).isEmpty && step(450, at: 600).isEmpty)
        #expect(step(450, at: 650) == [.overlays])
    }
}
