import MediaTypes
import PipelineSpec

/// What commands have made of the room's scenes: which there are, what is on air, what they were told.
struct SceneDesk: Sendable {
    /// A scene on air, or on its way.
    struct Showing: Sendable {
        var sceneID: String
        /// The first tick it is on; before the program has begun, 0.
        var tick: Int64
        var transition: PipelineSpec.Transition?
        /// Sources of the scene whose panes have left it.
        var without: Set<SourceID> = []
        /// When the countdowns that began with it are over, in ticks.
        var ends: [String: Int64] = [:]
    }

    var shelf: SceneShelf
    var onAir: Showing
    /// What commands have put on air at later ticks, in their order; one for each tick.
    var upcoming: [Showing] = []
    var countdowns = CountdownEnds()
    /// Scheduled scenes that have come on air and that the room's life has not been told of.
    private var begun: [String] = []
    /// The scene on air, with its countdowns, is that of a worker before this one.
    var isResumed = false
    /// The users the automatic scene on air was made for.
    var live: [String]?

    init(_ pipeline: Pipeline) {
        self.shelf = SceneShelf(pipeline.scenes)
        self.onAir = Showing(sceneID: pipeline.program.scene, tick: 0)
        if let scene = self.shelf[pipeline.program.scene] { Self.begin(&self.onAir, scene, fps: pipeline.canvas.fps) }
    }

    /// Brings forward what is on air by now.
    mutating func advance(to tick: Int64) {
        while let next = self.upcoming.first, tick >= next.tick {
            self.onAir = next
            self.begun.append(next.sceneID)
            self.upcoming.removeFirst()
        }
    }

    /// Scheduled scenes that have come on air since the last call, in order.
    mutating func takeBegun() -> [PipelineSpec.Scene] {
        defer { self.begun = [] }
        return self.begun.compactMap { self.shelf[$0] }
    }

    /// Remembers what has been put on air, now or later.
    mutating func note(_ showing: Showing, isNow: Bool) {
        if isNow {
            self.onAir = showing
            // The program has shown those before, if only for a tick.
            self.upcoming.removeAll { $0.tick <= showing.tick }
        } else {
            self.upcoming.removeAll { $0.tick == showing.tick }
            let place = self.upcoming.firstIndex { $0.tick > showing.tick } ?? self.upcoming.endIndex
            self.upcoming.insert(showing, at: place)
        }
    }

    /// Automatic scenes do not count sources that leave, nor does anything wait for them.
    mutating func leave(_ sources: [SourceID]) {
        if sources.isEmpty { return }
        let uids = Set(sources.filter { $0.streamType == .main }.map(\.uid))
        let rest = self.live?.filter { !uids.contains($0) } ?? []
        self.live = rest.isEmpty ? nil : rest
        self.onAir.without.subtract(sources)
    }

    /// Whether a scene is on air or on its way.
    func isShown(_ sceneID: String) -> Bool {
        self.onAir.sceneID == sceneID || self.upcoming.contains { $0.sceneID == sceneID }
    }

    /// Starts the countdowns of a scene that goes on air.
    static func begin(_ showing: inout Showing, _ scene: PipelineSpec.Scene, fps: Int) {
        showing.ends = CountdownEnds.beginning(scene.countdowns, at: showing.tick, fps: fps)
    }

    /// The overlays of a scene: what commands have said, and when its countdowns end.
    ///
    /// - Parameters:
    ///   - commanded: What texts and score bars say by command.
    ///   - phaseEnd: As ``CountdownEnds/ends(of:began:at:phaseEnd:)``.
    func overlays(
        of showing: Showing, _ scene: PipelineSpec.Scene, _ commanded: SceneMapping.Overlays, phaseEnd: Int64?
    ) -> SceneMapping.Overlays {
        var overlays = commanded
        overlays.ends = self.countdowns.ends(
            of: scene.countdowns, began: showing.ends, at: showing.tick, phaseEnd: phaseEnd)
        return overlays
    }
}
