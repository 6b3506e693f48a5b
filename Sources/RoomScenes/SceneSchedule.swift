package import MediaTypes
package import PipelineSpec

/// The scenes of a room: all scenes, the scene on air, and the scheduled scenes; see ``SceneChanges``.
package struct SceneSchedule: Sendable {
    /// A scene on air, or a scheduled scene.
    package struct Showing: Sendable {
        /// Id of the scene in ``SceneSchedule/sceneStore``.
        package var sceneID: String
        /// The first tick that shows the scene; 0 before the program has begun.
        package var tick: Int64
        /// The transition to the scene; nil for the scene's own.
        package var transition: PipelineSpec.Transition?
        /// Sources of the scene whose panes are hidden.
        package var without: Set<SourceID> = []
        /// The ticks at which the countdowns end that started with the scene, by countdown id.
        package var ends: [String: Int64] = [:]

        /// Makes an entry from the values of its members.
        package init(
            sceneID: String, tick: Int64, transition: PipelineSpec.Transition? = nil, without: Set<SourceID> = [],
            ends: [String: Int64] = [:]
        ) {
            self.sceneID = sceneID
            self.tick = tick
            self.transition = transition
            self.without = without
            self.ends = ends
        }
    }

    /// All scenes of the room: those of the pipeline with the changes of commands, and those that commands have added.
    package var sceneStore: SceneStore
    /// The scene that the program shows.
    package var onAir: Showing
    /// Scenes that commands have scheduled for later ticks, ordered by tick, at most one per tick.
    package var upcoming: [Showing] = []
    /// Ends of countdowns that commands have set.
    package var countdowns = CountdownEnds()
    /// Ids of scheduled scenes that have gone on air and were not reported to ``SceneSelector`` yet.
    private var begun: [String] = []
    /// Whether an earlier worker has put the scene on air, so that its countdowns continue.
    package var isResumed = false
    /// The users for which an automatic scene was laid out last; nil if none was laid out yet, or if all of them have
    /// left the room.
    var live: [String]?

    /// Makes the schedule at the start of a room from its pipeline.
    package init(_ pipeline: Pipeline) {
        self.sceneStore = SceneStore(pipeline.scenes)
        self.onAir = Showing(sceneID: pipeline.program.scene, tick: 0)
        if let scene = self.sceneStore[pipeline.program.scene] {
            Self.begin(&self.onAir, scene, fps: pipeline.canvas.fps)
        }
    }

    /// Makes the last scheduled scene whose tick is due the scene on air, and removes it and the earlier ones from
    /// the schedule.
    mutating func advance(to tick: Int64) {
        while let next = self.upcoming.first, tick >= next.tick {
            self.onAir = next
            self.begun.append(next.sceneID)
            self.upcoming.removeFirst()
        }
    }

    /// The scheduled scenes that went on air since the last call, in order.
    mutating func takeBegun() -> [PipelineSpec.Scene] {
        defer { self.begun = [] }
        return self.begun.compactMap { self.sceneStore[$0] }
    }

    /// Records a scene that the program has accepted.
    ///
    /// - Parameter isNow: Whether the scene is shown at the next tick; otherwise it is scheduled.
    mutating func note(_ showing: Showing, isNow: Bool) {
        if isNow {
            self.onAir = showing
            // Scenes with earlier ticks were already shown, if only for one tick.
            self.upcoming.removeAll { $0.tick <= showing.tick }
        } else {
            self.upcoming.removeAll { $0.tick == showing.tick }
            let place = self.upcoming.firstIndex { $0.tick > showing.tick } ?? self.upcoming.endIndex
            self.upcoming.insert(showing, at: place)
        }
    }

    /// Removes sources that leave the room from the users of the automatic scene and from the hidden panes of the scene
    /// on air.
    package mutating func leave(_ sources: [SourceID]) {
        if sources.isEmpty { return }
        let uids = Set(sources.filter { $0.streamType == .main }.map(\.uid))
        let rest = self.live?.filter { !uids.contains($0) } ?? []
        self.live = rest.isEmpty ? nil : rest
        self.onAir.without.subtract(sources)
    }

    /// Whether the scene with this id is on air or scheduled.
    func isShown(_ sceneID: String) -> Bool {
        self.onAir.sceneID == sceneID || self.upcoming.contains { $0.sceneID == sceneID }
    }

    /// Starts the countdowns of a scene that goes on air at the tick of `showing`, without those of the PK.
    package static func begin(_ showing: inout Showing, _ scene: PipelineSpec.Scene, fps: Int) {
        showing.ends = CountdownEnds.beginning(scene.countdowns, at: showing.tick, fps: fps)
    }

    /// The overlays with which a scene is composed: the values set by commands, and the ends of its countdowns.
    ///
    /// - Parameters:
    ///   - commanded: Texts and scores that commands have set.
    ///   - phaseEnd: See ``CountdownEnds/ends(of:began:at:phaseEnd:)``.
    package func overlays(
        of showing: Showing, _ scene: PipelineSpec.Scene, _ commanded: SceneMapping.Overlays, phaseEnd: Int64?
    ) -> SceneMapping.Overlays {
        var overlays = commanded
        overlays.ends = self.countdowns.ends(
            of: scene.countdowns, began: showing.ends, at: showing.tick, phaseEnd: phaseEnd)
        return overlays
    }
}
