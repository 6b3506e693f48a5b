import MediaTypes
import Program
import Threading
import Testing

@Suite("Which sources are seen and heard")
struct SourceVisibilityTests {
    /// One pane for each source, seen or heard as given.
    private func scene(_ id: String, _ panes: [(source: Int, isSeen: Bool, isHeard: Bool)]) -> Scene {
        var scene = Canvases.columns(id, panes.map(\.source))
        for (index, pane) in panes.enumerated() {
            scene.panes[index].videoPush = pane.isSeen
            scene.panes[index].audioPush = pane.isHeard
        }
        return scene
    }

    private func presence(_ scheduler: SceneScheduler, until tick: Int64) -> (seen: Set<SourceID>, heard: Set<SourceID>)
    {
        var presence = SourceVisibility()
        scheduler.note(until: tick, in: &presence)
        return (presence.seen, presence.heard)
    }

    private func sources(_ indices: Int...) -> Set<SourceID> { Set(indices.map { Canvases.source($0) }) }

    @Test(
        "a source with only audio on air counts only as heard, one with only video only as seen, one with neither as neither"
    )
    func audioAlone() {
        let scheduler = Canvases.scheduler(
            self.scene("one", [(0, true, true), (1, false, true), (2, true, false), (3, false, false)]))
        let now = self.presence(scheduler, until: 30)
        #expect(now.seen == self.sources(0, 2) && now.heard == self.sources(0, 1))
    }

    @Test("a source in a scene due by the given tick counts as heard; one of a scene that has ended does not")
    func coming() throws {
        let (first, second) = (
            self.scene("first", [(0, true, true), (1, false, true)]),
            self.scene("second", [(0, true, true), (2, false, true)])
        )
        let scheduler = Canvases.scheduler(first)
        try scheduler.prepare([first, second])
        var player = SceneCompositor(scheduler: scheduler, machine: SystemClock())
        _ = player.advance(to: 0)
        try scheduler.setScene(second, at: 40)
        #expect(self.presence(scheduler, until: 30).heard == self.sources(0, 1))
        #expect(self.presence(scheduler, until: 40).heard == self.sources(0, 1, 2))
        for tick in Int64(1)...41 { _ = player.advance(to: tick) }
        #expect(self.presence(scheduler, until: 71).heard == self.sources(0, 2))
    }
}
