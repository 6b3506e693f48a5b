package import MediaTypes
package import PipelineSpec
package import RoomSources

/// Decides which scene must be on air, from the states of the room's sources and the phases of its PK (a timed battle
/// of streamers).
///
/// A value without threads, clocks or codecs: it receives events with their times, and returns actions.
///
/// The planned scene is a pure function of the scene that a command or a phase of the PK requested last, the fallback
/// scenes that replace it because sources are lost, and the panes that are hidden because their sources are lost.
/// Invariants:
/// 1. One phase of the PK runs at a time, and each phase begins when the previous one ends.
/// 2. The scene that is chosen when a PK ends shows a source that is not absent, if any scene of the room does. A
/// fallback scene without such a source does not replace a requested scene that has one.
/// 3. If every source is live and has sent video, then the requested scene is planned with all its panes.
/// 4. The last pane is never hidden because its source is lost, since a placeholder is better than an empty canvas. A
/// pane that is hidden until its source sends video is hidden even if it is the last one.
package struct SceneSelector: Sendable {
    /// What happens in a scene when one of its sources has been lost for longer than its last frame is repeated.
    package enum Absence: Sendable, Hashable {
        /// The source's pane shows an image or a placeholder with its name.
        case placeholder
        /// The source's pane is hidden until the source is back.
        case leavePane
        /// The scene with this id is on air until the source is back.
        case fallbackScene(String)
    }

    /// How the room treats a source, from the pipeline.
    package struct Source: Sendable {
        package var id: SourceID
        package var rules: SourceStateMachine.Rules
        package var absence: Absence
        /// Whether the source's pane is hidden until the source has sent a frame.
        package var leavesWithoutVideo: Bool

        package init(
            id: SourceID, rules: SourceStateMachine.Rules, absence: Absence, leavesWithoutVideo: Bool = false
        ) {
            self.id = id
            self.rules = rules
            self.absence = absence
            self.leavesWithoutVideo = leavesWithoutVideo
        }
    }

    /// The settings of the PK.
    package struct PK: Sendable {
        /// Id of the scene during the PK; its sources take part.
        package var scene: String
        /// Id of the scene during the countdown; nil to keep the scene on air.
        package var countdownScene: String?
        /// Id of the scene during the punishment; nil to keep ``scene``.
        package var punishScene: String?
        /// Id of the scene after the PK.
        package var endScene: String
        package var durations: PKStateMachine.Durations
        /// Whether the PK starts automatically, once, when every source of its scene is live or only stalled.
        package var startsWhenReady: Bool

        package init(
            scene: String, countdownScene: String?, punishScene: String?, endScene: String,
            durations: PKStateMachine.Durations, startsWhenReady: Bool
        ) {
            self.scene = scene
            self.countdownScene = countdownScene
            self.punishScene = punishScene
            self.endScene = endScene
            self.durations = durations
            self.startsWhenReady = startsWhenReady
        }
    }

    /// An input of ``receive(_:now:)``.
    package enum Event: Sendable {
        case source(SourceID, SourceStateMachine.Event)
        /// A command has requested this scene.
        case commanded(Scene)
        /// Time has passed. The dictionary has the times at which media of each source last arrived.
        case poll([SourceID: SourceStateMachine.Arrivals])
    }

    /// The scene to put on air, with its hidden panes.
    package struct Show: Sendable, Hashable {
        package var scene: Scene
        /// Sources of the scene whose panes are hidden.
        package var without: Set<SourceID> = []
        /// Why the scene is put on air, for events. No event reports the `start` of the room's first scene.
        package var reason: String

        func isSamePicture(as other: Show) -> Bool {
            self.scene.sceneID == other.scene.sceneID && self.scene.sources == other.scene.sources
                && self.without == other.without
        }
    }

    /// An action that the caller must carry out.
    package enum Action: Sendable, Equatable {
        /// Report the new state of a source.
        case tell(SourceID, SourceStateMachine.Change)
        /// Report that every source of the PK's scene is live or only stalled.
        case pkReady
        /// Report a phase of the PK that has begun.
        case phase(PKStateMachine.Change)
        /// Put this scene on air as soon as possible.
        case show(Show)
    }

    /// A scene that replaces the requested one until a source is back.
    struct Fallback: Sendable {
        var source: SourceID
        var scene: Scene
    }

    /// The scenes of the room: those of the pipeline in its order, then those that were added.
    package private(set) var scenes: [Scene]
    /// The PK of the pipeline; nil if it has none, so that a PK starts only by a command that names its scene.
    package private(set) var pk: PK?
    /// The scenes named by the command that started the PK. Empty if the pipeline has a PK and none is running.
    package private(set) var commandedScenes = PK.Scenes()
    /// The current PK, or the last one, with the scenes that applied when its phase began; nil if no PK was started.
    package private(set) var plan: PK?
    private var absences: [SourceID: Absence]
    /// The state of each source.
    package private(set) var sources: [SourceID: SourceStateMachine]
    /// The phases of the PK.
    package private(set) var phases: PKStateMachine
    /// The scene that a command or a phase of the PK requested last; before that, the first scene.
    package private(set) var wanted: Scene
    /// The scene that must be on air. The scene that the program shows (``SceneSchedule/onAir``) differs from it while
    /// a scene is being built, if a scene cannot be composed, and from the time at which a scheduled scene is on air
    /// until its ``Event/commanded(_:)`` is received.
    package private(set) var planned: Show
    private var fallbacks: [Fallback] = []
    private var away: Set<SourceID> = []
    /// Sources whose panes are hidden until their first frame.
    private var unpictured: Set<SourceID>
    private var wasReady = false
    /// Whether the PK has started automatically.
    package private(set) var hasStartedItself = false
    /// The reason for requesting ``wanted``; nil once the scene has been planned.
    private var asked: String?

    /// - Parameters:
    ///   - scenes: The scenes of the pipeline in their order; at least one.
    ///   - first: Id of the first scene on air.
    package init(sources: [Source], scenes: [Scene], first: String, pk: PK?) {
        self.scenes = scenes
        self.pk = pk
        self.absences = Dictionary(sources.map { ($0.id, $0.absence) }) { first, _ in first }
        self.sources = Dictionary(sources.map { ($0.id, SourceStateMachine(rules: $0.rules)) }) { first, _ in first }
        self.unpictured = Set(sources.filter(\.leavesWithoutVideo).map(\.id))
        self.phases = PKStateMachine(
            durations: pk?.durations ?? PKStateMachine.Durations(countdown: 0, pk: 0, punish: 0))
        self.wanted = scenes.first { $0.sceneID == first } ?? scenes.first ?? Scene(first, .panes([]))
        self.planned = Show(scene: self.wanted, reason: "start")
        self.planned.without = self.leaving(self.wanted)
    }

    /// The next time at which ``Event/poll(_:)`` has an effect even if no media arrives; nil if there is none. Stalls of
    /// live sources are not included.
    package func deadline(after now: Int64) -> Int64? {
        var first = self.phases.endsAt
        for source in self.sources.values {
            guard let deadline = source.deadline(after: now) else { continue }
            first = min(first ?? deadline, deadline)
        }
        return first
    }

    // MARK: Events

    /// Handles an event. A phase of the PK whose time is over ends before an event of a source or a command is handled,
    /// even if no poll occurred since then.
    ///
    /// - Returns: The actions to carry out, in order.
    package mutating func receive(_ event: Event, now: Int64) -> [Action] {
        var actions: [Action] = []
        switch event {
        case .source(let id, let event):
            actions += self.entered(self.phases.poll(now: now))
            if event == .firstFrameDecoded { self.unpictured.remove(id) }
            for change in self.sources[id]?.receive(event, now: now) ?? [] { actions.append(.tell(id, change)) }
        case .commanded(let scene):
            actions += self.entered(self.phases.poll(now: now))
            self.want(scene, reason: "command")
        case .poll(let arrivals):
            actions += self.poll(arrivals, now: now)
            actions += self.entered(self.phases.poll(now: now))
        }
        return actions + self.settle(now: now)
    }

    /// Passes the time to every source.
    ///
    /// - Returns: The changes of the sources, in order of the sources' ids.
    private mutating func poll(_ arrivals: [SourceID: SourceStateMachine.Arrivals], now: Int64) -> [Action] {
        var changed: [(id: SourceID, changes: [SourceStateMachine.Change])] = []
        // By index, since a dictionary that is iterated is copied when one of its values changes.
        var index = self.sources.startIndex
        while index != self.sources.endIndex {
            let id = self.sources.keys[index]
            let changes = self.sources.values[index].poll(
                now: now, arrivals: arrivals[id] ?? SourceStateMachine.Arrivals())
            if !changes.isEmpty { changed.append((id, changes)) }
            self.sources.formIndex(after: &index)
        }
        if changed.count > 1 { changed.sort { $0.id.description < $1.id.description } }
        return changed.flatMap { source in source.changes.map { Action.tell(source.id, $0) } }
    }

    /// Starts a PK. Durations in nanoseconds; those that are nil, and scenes that are not named, are those of the
    /// pipeline.
    ///
    /// - Parameter scenes: If the pipeline has no PK, then at least `scene` is required, and the default end scene is
    ///   the one requested last before the PK.
    /// - Throws: If a PK is running, no scene is named, a scene was removed, or a source of the PK's scene is absent.
    package mutating func startPK(
        _ scenes: PK.Scenes = PK.Scenes(), countdown: Int64? = nil, duration: Int64? = nil, punish: Int64? = nil,
        now: Int64
    ) throws(PKStateMachine.Refusal) -> [Action] {
        try self.command(now: now) { life throws(PKStateMachine.Refusal) in
            var scenes = scenes
            if life.pk == nil { scenes.endScene = scenes.endScene ?? life.wanted.sceneID }
            guard let pk = PK(life.pk, scenes) else { throw Self.noPK }
            if let removed = ([pk.scene] + scenes.ids).first(where: { life.scene($0) == nil }) {
                throw PKStateMachine.Refusal(
                    what: "the PK's scene \"\(removed)\" was removed", fix: "add it again: PUT /v1/scenes/\(removed)")
            }
            if let missing = life.scene(pk.scene)?.sources.first(where: { life.sources[$0]?.isAbsent ?? true }) {
                throw PKStateMachine.Refusal(
                    what: "source \(missing) is absent", fix: "start the PK when the source publishes")
            }
            var durations = pk.durations
            if let countdown { durations.countdown = countdown }
            if let duration { durations.pk = duration }
            if let punish { durations.punish = punish }
            let changes = try life.phases.start(durations, now: now)
            life.commandedScenes = scenes
            return changes
        }
    }

    package mutating func punishPK(duration: Int64? = nil, now: Int64) throws(PKStateMachine.Refusal) -> [Action] {
        try self.command(now: now) { life throws(PKStateMachine.Refusal) in
            guard life.shownPK != nil else { throw Self.noPK }
            return try life.phases.punish(lasting: duration, now: now)
        }
    }

    package mutating func endPK(now: Int64) throws(PKStateMachine.Refusal) -> [Action] {
        try self.command(now: now) { life throws(PKStateMachine.Refusal) in
            guard life.shownPK != nil else { throw Self.noPK }
            return life.phases.end(.command, now: now)
        }
    }

    /// Changes the phase of the PK by a command. If the command is refused, then nothing changes.
    private mutating func command(
        now: Int64, _ change: (inout SceneSelector) throws(PKStateMachine.Refusal) -> [PKStateMachine.Change]
    ) throws(PKStateMachine.Refusal) -> [Action] {
        var next = self
        var actions = next.entered(next.phases.poll(now: now))
        let changes = try change(&next)
        actions += next.entered(changes)
        self = next
        return actions + self.settle(now: now)
    }

    private static let noPK = PKStateMachine.Refusal(
        what: "this room has no PK", fix: "start a PK with a \"scene\", or add \"pk\" to the pipeline")

    // MARK: Planning

    /// Requests the scenes of the phases that have begun.
    private mutating func entered(_ changes: [PKStateMachine.Change]) -> [Action] {
        for change in changes {
            let before = self.plan
            // Changes of scenes in the pipeline take effect with a new phase.
            guard let pk = PK(self.pk, self.commandedScenes) ?? before else { continue }
            self.plan = pk
            switch change.to {
            case .countdown: if let scene = pk.countdownScene { self.want(scene, reason: "pk.countdown") }
            case .pk: self.want(pk.scene, reason: "pk.started")
            case .punish: self.want(pk.punishScene ?? pk.scene, reason: "pk.punish")
            case .idle:
                self.want(self.sceneAfterPK(pk, of: before?.scene ?? pk.scene).sceneID, reason: "pk.ended")
                if self.pk != nil { self.commandedScenes = PK.Scenes() }
            }
        }
        return changes.map { .phase($0) }
    }

    private mutating func want(_ id: String, reason: String) {
        if let scene = self.scene(id) { self.want(scene, reason: reason) }
    }

    /// Requests a scene. The current fallback scenes end.
    private mutating func want(_ scene: Scene, reason: String) {
        self.wanted = scene
        self.fallbacks = []
        self.asked = reason
    }

    /// The end scene of a PK, or another scene if all sources of the end scene are absent.
    ///
    /// - Parameter scene: The scene of the PK that has ended.
    private func sceneAfterPK(_ pk: PK, of scene: String) -> Scene {
        var candidates = [self.scene(pk.endScene)]
        for source in self.scene(scene)?.sources ?? [] where self.sources[source]?.isAbsent == true {
            if case .fallbackScene(let id)? = self.absences[source] { candidates.append(self.scene(id)) }
        }
        // Then scenes whose sources are all present, then any scene with at least one source that is not absent.
        candidates += self.scenes.filter { $0.sources.allSatisfy { self.sources[$0]?.isPresent ?? false } }
        candidates += self.scenes
        let known = candidates.compactMap { $0 }
        return known.first { self.hasSomebody($0) } ?? known.first ?? self.wanted
    }

    /// Whether the source has been lost or silent for its whole grace period.
    private func isGivenUp(_ source: SourceID) -> Bool {
        self.sources[source].map { $0.state == .gone || $0.isGivenUp } ?? false
    }

    private func hasSomebody(_ scene: Scene) -> Bool {
        scene.sources.contains { self.sources[$0].map { !$0.isAbsent } ?? false }
    }

    /// Adds a scene, or replaces the scene with the same id.
    package mutating func replace(_ scene: Scene) {
        if let index = self.scenes.firstIndex(where: { $0.sceneID == scene.sceneID }) {
            self.scenes[index] = scene
        } else {
            self.scenes.append(scene)
        }
        if self.wanted.sceneID == scene.sceneID { self.wanted = scene }
        if self.planned.scene.sceneID == scene.sceneID { self.planned.scene = scene }
    }

    /// Removes a scene that is not on air. If a fallback scene has replaced it, that one becomes the requested scene.
    package mutating func remove(_ id: String) {
        self.scenes.removeAll { $0.sceneID == id }
        self.fallbacks.removeAll { $0.scene.sceneID == id }
        guard self.wanted.sceneID == id, self.planned.scene.sceneID != id else { return }
        self.wanted = self.planned.scene
        self.fallbacks = []
    }

    /// Adds a source without a publisher. Does nothing if the room already has a source with this id.
    package mutating func add(_ source: Source) {
        guard self.sources[source.id] == nil else { return }
        self.sources[source.id] = SourceStateMachine(rules: source.rules)
        self.absences[source.id] = source.absence
        if source.leavesWithoutVideo { self.unpictured.insert(source.id) }
    }

    /// Removes a source that no scene contains. A fallback scene that is on air because the source was lost ends with
    /// the next event.
    package mutating func remove(_ source: SourceID) {
        self.sources[source] = nil
        self.absences[source] = nil
        self.unpictured.remove(source)
        self.away.remove(source)
        self.fallbacks.removeAll { $0.source == source }
    }

    /// Sets the first scene on air.
    mutating func setFirst(_ scene: Scene) {
        self.wanted = scene
        self.planned = Show(scene: scene, reason: "start")
        self.planned.without = self.leaving(scene)
    }

    package mutating func resumeLost(_ id: SourceID, until end: Int64?, now: Int64) {
        self.sources[id]?.resumeLost(until: end, now: now)
    }

    /// Restores a PK; see ``resumePK(_:since:endsAt:durations:hasStartedItself:scenes:)``.
    mutating func restorePK(
        _ plan: PK?, _ scenes: PK.Scenes, hasStartedItself: Bool, _ change: (inout PKStateMachine) -> Void
    ) {
        (self.plan, self.commandedScenes, self.hasStartedItself) = (plan, scenes, hasStartedItself)
        change(&self.phases)
    }

    /// Sets the PK of the pipeline; nil if the pipeline no longer has one.
    ///
    /// A running PK keeps its phase, its durations and the scenes named by its command; other scenes apply from the
    /// next phase on. A PK that starts automatically does so at the next event if all its sources are live or only stalled
    /// and none has started automatically before.
    package mutating func setPK(_ pk: PK?) {
        let startsWhenReady = pk?.startsWhenReady == true && self.pk?.startsWhenReady != true
        if startsWhenReady || pk?.scene != self.pk?.scene { self.wasReady = false }
        if pk != nil, !self.phases.isRunning { self.commandedScenes = PK.Scenes() }
        self.pk = pk
    }

    package func scene(_ id: String) -> Scene? { self.scenes.first { $0.sceneID == id } }

    /// Ends, reports or starts the PK as the states of the sources require, then plans the scene.
    private mutating func settle(now: Int64) -> [Action] {
        var actions: [Action] = []
        if self.phases.isRunning, let gone = self.pkScene?.sources.first(where: { self.isGivenUp($0) }) {
            actions += self.entered(self.phases.end(.sourceGone(gone.description), now: now))
        }
        if let pk = self.pk, let scene = self.scene(pk.scene) {
            let isReady = scene.sources.allSatisfy { self.sources[$0]?.isPresent ?? false }
            if isReady, !self.wasReady {
                actions.append(.pkReady)
                if pk.startsWhenReady, !self.hasStartedItself, !self.phases.isRunning {
                    self.hasStartedItself = true
                    // The PK is idle and all its sources are live, so the start is not refused.
                    actions += self.entered((try? self.phases.start(pk.durations, now: now)) ?? [])
                }
            }
            self.wasReady = isReady
        }
        self.noteAbsences(now)
        let show = self.picture(reason: self.asked)
        let isOther = !show.isSamePicture(as: self.planned)
        if isOther || self.asked != nil { self.planned = show }
        self.asked = nil
        return isOther ? actions + [.show(show)] : actions
    }

    /// Adds fallback scenes for sources that are lost, and removes those of sources that are back.
    private mutating func noteAbsences(_ now: Int64) {
        var away: Set<SourceID> = []
        for (id, source) in self.sources where source.isAway(now: now) { away.insert(id) }
        defer { self.away = away }
        self.fallbacks.removeAll { !away.contains($0.source) }
        for source in away.subtracting(self.away).sorted(by: { $0.description < $1.description }) {
            guard case .fallbackScene(let id)? = self.absences[source], let scene = self.scene(id) else { continue }
            let shown = self.picture(reason: nil).scene
            if shown.sources.contains(source), scene.sceneID != shown.sceneID {
                self.fallbacks.append(Fallback(source: source, scene: scene))
            }
        }
    }

    /// Determines the scene to be on air: the newest fallback scene that may replace the requested scene, otherwise the
    /// requested scene.
    private func picture(reason: String?) -> Show {
        let covering = self.fallbacks.last { self.hasSomebody($0.scene) || !self.hasSomebody(self.wanted) }
        let scene = covering?.scene ?? self.wanted
        let leaving = self.leaving(scene)
        var why = reason ?? "sources are back"
        if reason == nil, let covering {
            let isSilent = self.sources[covering.source]?.state == .stalled
            why = "source \(covering.source) is \(isSilent ? "silent" : "lost")"
        }
        if reason == nil, covering == nil, !leaving.isEmpty { why = "panes have left" }
        return Show(scene: scene, without: leaving, reason: why)
    }

    /// Sources of a scene whose panes must be hidden now.
    private func leaving(_ scene: Scene) -> Set<SourceID> {
        if self.unpictured.isEmpty, self.away.isEmpty { return [] }
        let waiting = Set(scene.sources.filter { self.unpictured.contains($0) })
        let leaving = Set(scene.sources.filter { self.away.contains($0) && self.absences[$0] == .leavePane })
        let all = waiting.union(leaving)
        return all.count == Set(scene.sources).count ? waiting : all
    }
}
