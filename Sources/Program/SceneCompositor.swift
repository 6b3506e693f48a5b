package import LibAV
package import MediaTypes

/// Composes one canvas per tick on the program thread, with the compositions that the ``SceneScheduler`` has prepared.
/// It never builds a graph (except offline) and never waits. Used by one thread.
package struct SceneCompositor {
    /// The composed canvas of one tick.
    package struct Tick {
        /// The composed canvas, or the previous one if composing failed; `nil` if none could be composed yet.
        package var picture: Picture?
        /// The panes of the scene on air that show video, bottom first.
        package var panes: [Pane]
    }

    /// A transition between two scenes that is in progress.
    private struct ActiveTransition {
        var from: PreparedScene
        var start: Int64
        var ticks: Int64
        var transition: Transition
    }

    private struct ComposedCanvas {
        var composition: Composition
        var feeds: [Picture?]
        var decorations: [Picture?]
        var canvas: Picture
    }

    private let scheduler: SceneScheduler
    private let machine: any MonotonicClock
    private var onAir: PreparedScene?
    private var activeTransition: ActiveTransition?
    /// The composition with which each scene was last shown.
    private var current: [ObjectIdentifier: Composition] = [:]
    /// The last frame of each source that was fed to a graph.
    private var held: [SourceID: Picture] = [:]
    private var formats: [SourceID: PictureFormat] = [:]
    /// Sources that speak, whose rings are visible.
    private var speaking: Set<SourceID> = []
    /// The newest canvas; `nil` until one was composed.
    package private(set) var last: Picture?
    /// The newest composed canvas with its inputs: as long as no input changes, the canvas is repeated.
    private var composedCanvas: ComposedCanvas?
    /// Buffer that is reused for every tick; empty between ticks.
    private var spareFeeds: [Picture?] = []
    /// Compositions released during this tick, which may still be referenced until the tick ends.
    private var retired: [Composition] = []
    /// Schedule for checking the memory of the scene on air.
    private var memoryLook: PoolCheckTimer
    /// Number of rebuilds that were requested to reduce the memory of the scene on air.
    package private(set) var renewals = 0
    /// Ticks for which no canvas could be composed and the previous one was repeated.
    package private(set) var failures = 0
    /// Longest time to switch to another scene or composition, in nanoseconds.
    package private(set) var longestSwap: Int64 = 0
    /// Number of changes of the scene on air.
    package private(set) var switches: Int64 = 0
    /// Number of times that a frame's format differed from its pane's input, so that an older frame or the card was used.
    package private(set) var substitutions = 0

    /// Creates a compositor that shows the scenes of `scheduler`.
    ///
    /// - Parameter machine: Clock for measuring ``longestSwap``.
    package init(scheduler: SceneScheduler, machine: any MonotonicClock) {
        self.scheduler = scheduler
        self.machine = machine
        self.memoryLook = PoolCheckTimer(every: scheduler.canvas.fps * 60)
    }

    /// The scene on air; `nil` before the first tick.
    var scene: Scene? { self.onAir?.scene }
    /// Whether the scene on air has a pane that shows the source's video.
    func shows(_ source: SourceID) -> Bool { self.onAir?.panes.contains { $0.source == source } ?? false }
    /// Whether a transition is in progress.
    var isCrossing: Bool { self.activeTransition != nil }

    /// Puts the scheduled scene on air that is due at `tick`, if there is one, and begins its transition.
    ///
    /// - Returns: The scene that comes on air with this tick, also at the first call; `nil` if the scene does not
    ///   change.
    package mutating func advance(to tick: Int64) -> Scene? {
        let begin = self.machine.now()
        self.scheduler.retire(&self.retired)
        let old = self.onAir
        let scene = self.scheduler.advance(to: tick, isCrossing: self.activeTransition != nil)
        self.onAir = scene
        if tick % Int64(max(1, self.scheduler.canvas.fps)) == 0 { self.scheduler.tickCountdowns(tick) }
        guard let old, old !== scene else {
            if old == nil { return scene.scene }
            return nil
        }
        defer { self.longestSwap = max(self.longestSwap, self.machine.now() - begin) }
        self.switches += 1
        self.activeTransition = nil
        // Between canvases of different sizes only a cut is possible.
        guard scene.scene.size == old.scene.size else { return scene.scene }
        switch scene.scene.transition {
        case .cut: break
        case .crossfade(let ticks), .slide(_, let ticks):
            let count = Int64(max(1, min(300, ticks)))
            self.activeTransition = ActiveTransition(
                from: old, start: tick, ticks: count, transition: scene.scene.transition)
        }
        return scene.scene
    }

    /// Composes the canvas of a tick.
    ///
    /// - Parameters:
    ///   - frames: The frame of each source for this tick; sources without one show their card.
    ///   - covered: Sources that must not be visible at this tick: they show their card.
    package mutating func compose(
        tick: Int64, frames: [SourceID: Picture], covered: Set<SourceID>
    ) -> Tick {
        guard let scene = self.onAir else { return Tick(picture: self.last, panes: []) }
        var shown = frames
        for source in covered {
            shown[source] = nil
            // An old frame of a covered source must not reappear while a graph is built.
            self.held[source] = nil
        }
        // Nor may an old frame of a source that has none now, for example after its publisher was disconnected: it
        // would reappear if the next publisher has another format.
        for source in self.held.keys where shown[source] == nil { self.held[source] = nil }
        let isSame =
            shown.count == self.formats.count && shown.allSatisfy { self.formats[$0.key] == $0.value.format }
        if !isSame {
            let formats = shown.mapValues(\.format)
            self.formats = formats
            self.scheduler.setFormats(formats)
        }
        do throws(MediaError) {
            var canvas = try self.canvas(of: scene, shown, tick)
            if let activeTransition = self.activeTransition {
                let step = tick - activeTransition.start + 1
                if step <= activeTransition.ticks {
                    let before = try self.canvas(of: activeTransition.from, shown, tick)
                    canvas = try self.between(before, canvas, step, activeTransition)
                } else {
                    self.activeTransition = nil
                }
            }
            self.last = canvas
            for (source, picture) in shown where self.isFed(picture, source, scene) { self.held[source] = picture }
        } catch {
            // Keep the viewer's video running: the previous canvas is shown again.
            self.failures += 1
        }
        if self.current.count > (self.activeTransition == nil ? 1 : 2) { self.forget(scene) }
        self.look(at: scene)
        return Tick(picture: self.last, panes: scene.panes)
    }

    /// Checks whether the graph on air keeps more memory than it needs: a graph keeps memory for the largest number of
    /// canvases that ever waited for the encoders. If so, a new graph replaces it.
    private mutating func look(at scene: PreparedScene) {
        guard self.memoryLook.isDue() else { return }
        guard let composition = self.current[ObjectIdentifier(scene)], composition.isOversized() else { return }
        self.renewals += 1
        self.scheduler.renew(scene, self.formats)
    }

    /// Ends a transition: from this tick on, only the scene on air is shown.
    ///
    /// - Returns: Whether a transition was in progress.
    mutating func cutShort() -> Bool {
        defer { self.activeTransition = nil }
        return self.activeTransition != nil
    }

    /// Releases the last frame of a removed source, which the scene on air must no longer contain.
    mutating func forget(_ source: SourceID) {
        self.held[source] = nil
        self.speaking.remove(source)
    }

    /// Shows the speaking rings of a source from the next composed canvas on, or hides them.
    package mutating func setSpeaking(_ isSpeaking: Bool, _ source: SourceID) {
        if isSpeaking { self.speaking.insert(source) } else { self.speaking.remove(source) }
    }

    private func isFed(_ picture: Picture, _ source: SourceID, _ scene: PreparedScene) -> Bool {
        guard let composition = self.current[ObjectIdentifier(scene)] else { return false }
        return zip(composition.panes, composition.formats).contains { $0.source == source && $1 == picture.format }
    }

    /// Releases compositions of scenes that are off air. The scene or the scheduler still holds them, so nothing is
    /// freed on this thread.
    private mutating func forget(_ scene: PreparedScene) {
        let kept = [ObjectIdentifier(scene), self.activeTransition.map { ObjectIdentifier($0.from) }]
        for (key, composition) in self.current where !kept.contains(key) {
            self.retire(composition)
            self.current[key] = nil
        }
    }

    /// Releases a composition: it is passed to the builder thread at the next tick, when this compositor no longer
    /// refers to it.
    private mutating func retire(_ composition: Composition) {
        if self.composedCanvas?.composition === composition { self.composedCanvas = nil }
        self.retired.append(composition)
    }

    private mutating func canvas(
        of scene: PreparedScene, _ frames: [SourceID: Picture], _ tick: Int64
    ) throws(MediaError) -> Picture {
        let composition = try self.pick(scene)
        var feeds: [Picture?] = []
        swap(&feeds, &self.spareFeeds)
        for (pane, format) in zip(composition.panes, composition.formats) {
            guard let picture = frames[pane.source] else {
                feeds.append(nil)
                continue
            }
            if picture.format == format {
                feeds.append(picture)
            } else {
                self.substitutions += 1
                feeds.append(self.held[pane.source].flatMap { $0.format == format ? $0 : nil })
            }
        }
        let decorations =
            composition.slots.isEmpty
            ? []
            : self.scheduler.overlays.images(
                composition.slots, tick: tick, fps: self.scheduler.canvas.fps, speaking: self.speaking)
        if let composedCanvas = self.composedCanvas, composedCanvas.composition === composition,
            Self.areSame(composedCanvas.feeds, feeds),
            Self.areSame(composedCanvas.decorations, decorations)
        {
            feeds.removeAll(keepingCapacity: true)
            swap(&feeds, &self.spareFeeds)
            return composedCanvas.canvas
        }
        if var old = self.composedCanvas.take() {
            old.feeds.removeAll(keepingCapacity: true)
            swap(&old.feeds, &self.spareFeeds)
        }
        let canvas = try composition.compose(feeds, decorations: decorations)
        self.composedCanvas = ComposedCanvas(
            composition: composition, feeds: feeds, decorations: decorations, canvas: canvas)
        return canvas
    }

    private static func areSame(_ one: [Picture?], _ other: [Picture?]) -> Bool {
        one.count == other.count && zip(one, other).allSatisfy { $0 === $1 }
    }

    /// Returns the scene's composition for the formats of this tick, or, while the builder thread still builds it, the
    /// composition that was shown last, or else the best match.
    private mutating func pick(_ scene: PreparedScene) throws(MediaError) -> Composition {
        let begin = self.machine.now()
        let key = ObjectIdentifier(scene)
        var best = scene.best(for: self.formats)
        if best?.isExact != true {
            if self.scheduler.builder == nil {
                self.scheduler.warmNow(scene, self.formats)
                best = scene.best(for: self.formats)
            } else {
                self.scheduler.queueWarming()
            }
        }
        let before = self.current[key]
        let chosen: Composition
        if let best, best.isExact || before == nil {
            chosen = best.composition
        } else if let before {
            chosen = before
        } else {
            throw MediaError(.internal, "the scene has no graph", at: "program", fix: "see the failure before this one")
        }
        if chosen !== before {
            self.current[key] = chosen
            if let before { self.retire(before) }
            if self.scheduler.builder != nil { self.longestSwap = max(self.longestSwap, self.machine.now() - begin) }
        }
        return chosen
    }

    private func between(
        _ before: Picture, _ after: Picture, _ step: Int64, _ activeTransition: ActiveTransition
    ) throws(MediaError) -> Picture {
        let (step, steps) = (Int(step), Int(activeTransition.ticks) + 1)
        let across = before.format.width * step / steps
        let down = before.format.height * step / steps
        switch activeTransition.transition {
        case .cut: return after
        case .crossfade: return try before.crossfaded(to: after, weight: 256 * step / steps)
        case .slide(.left, _): return try before.pushed(by: after, x: -across, y: 0)
        case .slide(.right, _): return try before.pushed(by: after, x: across, y: 0)
        case .slide(.up, _): return try before.pushed(by: after, x: 0, y: -down)
        case .slide(.down, _): return try before.pushed(by: after, x: 0, y: down)
        }
    }
}

extension SceneScheduler {
    /// Puts the scenes on air that are scheduled up to `tick`, and returns the scene on air. Called on the program
    /// thread.
    func advance(to tick: Int64, isCrossing: Bool) -> PreparedScene {
        let (onAir, hasLeft) = self.state.withLock { state -> (PreparedScene, Bool) in
            state.tick = tick
            state.isRunning = true
            var hasLeft = false
            if !isCrossing, let leaving = state.leaving {
                if self.builder != nil { state.left.append(leaving) }
                state.leaving = nil
                hasLeft = true
            }
            while let next = state.pending.first, next.tick <= tick {
                state.pending.removeFirst()
                if next.scene !== state.onAir { state.leaving = state.onAir }
                state.onAir = next.scene
            }
            return (state.onAir, hasLeft)
        }
        // A scene that is not part of the pipeline is freed with its graphs, and not on this thread.
        if hasLeft { self.queueFreeing() }
        return onAir
    }

    func setFormats(_ formats: [SourceID: PictureFormat]) {
        self.state.withLock { state in
            for (source, format) in formats { state.formats[source] = format }
        }
    }

    /// Draws the next images of countdowns; called once per second.
    func tickCountdowns(_ tick: Int64) {
        let isNeeded = self.state.withLock { state in
            !state.onAir.scene.countdowns.isEmpty || state.pending.contains { !$0.scene.scene.countdowns.isEmpty }
                || state.known.contains { !$0.scene.countdowns.isEmpty }
        }
        if isNeeded { self.queueCountdowns(tick) }
    }

    /// Passes compositions that the program thread has released to the builder thread, which frees those that no scene
    /// keeps.
    ///
    /// - Parameter compositions: Empty afterwards; the program thread must not hold any other reference to them.
    func retire(_ compositions: inout [Composition]) {
        guard !compositions.isEmpty else { return }
        // In one step, because the builder may be about to free compositions released before.
        self.state.withLock { state in
            if self.builder != nil { state.retired += compositions }
            compositions.removeAll(keepingCapacity: true)
        }
        self.queueFreeing()
    }

    /// Has the builder thread free the released compositions and scenes. The job must not hold these objects itself:
    /// otherwise the submitting thread could be the one that frees them.
    private func queueFreeing() {
        self.builder?.submit { [weak self] in self?.freeRetired() }
    }

    private func freeRetired() {
        let gone = self.state.withLock { state in
            defer { (state.retired, state.left) = ([], []) }
            return (state.retired, state.left)
        }
        withExtendedLifetime(gone) {}
    }
}
