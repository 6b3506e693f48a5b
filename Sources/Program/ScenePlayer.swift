package import LibAV
package import MediaTypes

/// The scenes as the program thread sees them: takes what the director has ready and composes one canvas a tick.
/// Never builds, never waits. Used by one thread.
package struct ScenePlayer {
    /// What one tick shows.
    package struct Tick {
        /// `nil` before the first canvas.
        package var picture: Picture?
        /// The panes of the scene on air, bottom first.
        package var panes: [Pane]
    }

    /// The way from one scene to the next.
    private struct Crossing {
        var from: WarmScene
        var start: Int64
        var ticks: Int64
        var transition: Transition
    }

    private struct Made {
        var composition: Composition
        var feeds: [Picture?]
        var decorations: [Picture?]
        var canvas: Picture
    }

    private let director: SceneDirector
    private let machine: any MonotonicClock
    private var onAir: WarmScene?
    private var crossing: Crossing?
    /// The composition each scene was last shown by.
    private var current: [ObjectIdentifier: Composition] = [:]
    /// The last picture of each source that was fed to a graph.
    private var held: [SourceID: Picture] = [:]
    private var formats: [SourceID: PictureFormat] = [:]
    /// The canvas of the tick before.
    package private(set) var last: Picture?
    /// What the newest canvas was made of: as long as nothing of it changes it is shown again, and nothing is composed.
    private var made: Made?
    /// Used again each tick; empty in between.
    private var spareFeeds: [Picture?] = []
    /// Compositions that were let go of in this tick: something of it may hold them still.
    private var retired: [Composition] = []
    /// When the memory of the scene on air is looked at.
    private var memoryLook: PoolLook
    /// How often the scene on air was to be made anew for the sake of its memory.
    package private(set) var renewals = 0
    /// Ticks for which no canvas could be composed and the one before was repeated.
    package private(set) var failures = 0
    /// The longest it took to take up another composition, in nanoseconds.
    package private(set) var longestSwap: Int64 = 0
    package private(set) var switches: Int64 = 0
    /// How often a pane's picture had a format its graph was not ready for.
    package private(set) var substitutions = 0

    /// - Parameter machine: Measures ``longestSwap``.
    package init(director: SceneDirector, machine: any MonotonicClock) {
        self.director = director
        self.machine = machine
        self.memoryLook = PoolLook(every: director.canvas.fps * 60)
    }

    /// What is on air, once something is.
    var scene: Scene? { self.onAir?.scene }
    /// Whether the scene on air has a pane of it.
    func shows(_ source: SourceID) -> Bool { self.onAir?.panes.contains { $0.source == source } ?? false }
    /// It is on its way from one scene to the next.
    var isCrossing: Bool { self.crossing != nil }

    /// Goes to the next tick.
    ///
    /// - Returns: The scene that comes on air with it, when one does.
    package mutating func advance(to tick: Int64) -> Scene? {
        let begin = self.machine.now()
        self.director.retire(&self.retired)
        let old = self.onAir
        let scene = self.director.advance(to: tick, isCrossing: self.crossing != nil)
        self.onAir = scene
        if tick % Int64(max(1, self.director.canvas.fps)) == 0 { self.director.tickCountdowns(tick) }
        guard let old, old !== scene else {
            if old == nil { return scene.scene }
            return nil
        }
        self.switches += 1
        self.crossing = nil
        // Between canvases of two sizes there is nothing but a cut.
        guard scene.scene.size == old.scene.size else { return scene.scene }
        switch scene.scene.transition {
        case .cut: break
        case .crossfade(let ticks), .slide(_, let ticks):
            let count = Int64(max(1, min(300, ticks)))
            self.crossing = Crossing(from: old, start: tick, ticks: count, transition: scene.scene.transition)
        }
        self.longestSwap = max(self.longestSwap, self.machine.now() - begin)
        return scene.scene
    }

    /// - Parameters:
    ///   - pictures: What each source has for this tick; the card stands for those that have none.
    ///   - covered: Sources that must not be seen, from this tick on.
    package mutating func compose(
        tick: Int64, pictures: [SourceID: Picture], covered: Set<SourceID>
    ) -> Tick {
        guard let scene = self.onAir else { return Tick(picture: self.last, panes: []) }
        var shown = pictures
        for source in covered {
            shown[source] = nil
            // Nor may an old picture of it come back while a graph is made.
            self.held[source] = nil
        }
        // Nor one of who has none now, such as a publisher who was sent away: with the format of the next one it would.
        for source in self.held.keys where shown[source] == nil { self.held[source] = nil }
        let isSame =
            shown.count == self.formats.count && shown.allSatisfy { self.formats[$0.key] == $0.value.format }
        if !isSame {
            let formats = shown.mapValues(\.format)
            self.formats = formats
            self.director.setFormats(formats)
        }
        do throws(MediaError) {
            var canvas = try self.canvas(of: scene, shown, tick)
            if let crossing = self.crossing {
                let step = tick - crossing.start + 1
                if step <= crossing.ticks {
                    let before = try self.canvas(of: crossing.from, shown, tick)
                    canvas = try self.between(before, canvas, step, crossing)
                } else {
                    self.crossing = nil
                }
            }
            self.last = canvas
            for (source, picture) in shown where self.isFed(picture, source, scene) { self.held[source] = picture }
        } catch {
            // Keep the viewer's picture: the canvas of the tick before goes out again.
            self.failures += 1
        }
        if self.current.count > (self.crossing == nil ? 1 : 2) { self.forget(scene) }
        self.look(at: scene)
        return Tick(picture: self.last, panes: scene.panes)
    }

    /// A graph keeps memory for as many canvases as ever waited for the encoders. Where that lies idle another one is made, and taken
    /// up as for a change of formats.
    private mutating func look(at scene: WarmScene) {
        guard self.memoryLook.isDue() else { return }
        guard let composition = self.current[ObjectIdentifier(scene)], composition.isOversized() else { return }
        self.renewals += 1
        self.director.renew(scene, self.formats)
    }

    /// Ends a transition: from this tick on the scene on air is shown alone.
    ///
    /// - Returns: Whether there was one.
    mutating func cutShort() -> Bool {
        defer { self.crossing = nil }
        return self.crossing != nil
    }

    /// The source is gone, and no scene on air names it.
    mutating func forget(_ source: SourceID) { self.held[source] = nil }

    private func isFed(_ picture: Picture, _ source: SourceID, _ scene: WarmScene) -> Bool {
        guard let composition = self.current[ObjectIdentifier(scene)] else { return false }
        return zip(composition.panes, composition.formats).contains { $0.source == source && $1 == picture.format }
    }

    /// Lets go of compositions that are off air; their scene, or the director, still holds them, so that nothing is freed
    /// here.
    private mutating func forget(_ scene: WarmScene) {
        let kept = [ObjectIdentifier(scene), self.crossing.map { ObjectIdentifier($0.from) }]
        for (key, composition) in self.current where !kept.contains(key) {
            self.retire(composition)
            self.current[key] = nil
        }
    }

    /// Lets go of a composition: the builder gets it with the next tick, when nothing here holds it any more.
    private mutating func retire(_ composition: Composition) {
        if self.made?.composition === composition { self.made = nil }
        self.retired.append(composition)
    }

    private mutating func canvas(
        of scene: WarmScene, _ pictures: [SourceID: Picture], _ tick: Int64
    ) throws(MediaError) -> Picture {
        let composition = try self.pick(scene)
        var feeds: [Picture?] = []
        swap(&feeds, &self.spareFeeds)
        for (pane, format) in zip(composition.panes, composition.formats) {
            guard let picture = pictures[pane.source] else {
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
            ? [] : self.director.board.pictures(composition.slots, tick: tick, fps: self.director.canvas.fps)
        if let made = self.made, made.composition === composition, Self.areSame(made.feeds, feeds),
            Self.areSame(made.decorations, decorations)
        {
            feeds.removeAll(keepingCapacity: true)
            swap(&feeds, &self.spareFeeds)
            return made.canvas
        }
        if var old = self.made.take() {
            old.feeds.removeAll(keepingCapacity: true)
            swap(&old.feeds, &self.spareFeeds)
        }
        let canvas = try composition.compose(feeds, decorations: decorations)
        self.made = Made(composition: composition, feeds: feeds, decorations: decorations, canvas: canvas)
        return canvas
    }

    private static func areSame(_ one: [Picture?], _ other: [Picture?]) -> Bool {
        one.count == other.count && zip(one, other).allSatisfy { $0 === $1 }
    }

    /// The scene's composition for the formats of this tick; while the builder makes that, the one it has been shown by.
    private mutating func pick(_ scene: WarmScene) throws(MediaError) -> Composition {
        let begin = self.machine.now()
        let key = ObjectIdentifier(scene)
        var best = scene.best(for: self.formats)
        if best?.isExact != true {
            if self.director.builder == nil {
                self.director.warmNow(scene, self.formats)
                best = scene.best(for: self.formats)
            } else {
                self.director.queueWarming()
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
            if self.director.builder != nil { self.longestSwap = max(self.longestSwap, self.machine.now() - begin) }
        }
        return chosen
    }

    private func between(
        _ before: Picture, _ after: Picture, _ step: Int64, _ crossing: Crossing
    ) throws(MediaError) -> Picture {
        let (step, steps) = (Int(step), Int(crossing.ticks) + 1)
        let across = before.format.width * step / steps
        let down = before.format.height * step / steps
        switch crossing.transition {
        case .cut: return after
        case .crossfade: return try before.crossfaded(to: after, weight: 256 * step / steps)
        case .slide(.left, _): return try before.pushed(by: after, x: -across, y: 0)
        case .slide(.right, _): return try before.pushed(by: after, x: across, y: 0)
        case .slide(.up, _): return try before.pushed(by: after, x: 0, y: -down)
        case .slide(.down, _): return try before.pushed(by: after, x: 0, y: down)
        }
    }
}

extension SceneDirector {
    /// The scene on air at `tick`. Program thread.
    func advance(to tick: Int64, isCrossing: Bool) -> WarmScene {
        let (onAir, hasLeft) = self.state.withLock { state -> (WarmScene, Bool) in
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
        // A scene that was no more than a passing one takes its graphs with it: not on this thread.
        if hasLeft { self.queueFreeing() }
        return onAir
    }

    func setFormats(_ formats: [SourceID: PictureFormat]) {
        self.state.withLock { state in
            for (source, format) in formats { state.formats[source] = format }
        }
    }

    /// Once a second: countdowns need their next pictures.
    func tickCountdowns(_ tick: Int64) {
        let isNeeded = self.state.withLock { state in
            !state.onAir.scene.countdowns.isEmpty || state.pending.contains { !$0.scene.scene.countdowns.isEmpty }
                || state.known.contains { !$0.scene.countdowns.isEmpty }
        }
        if isNeeded { self.queueCountdowns(tick) }
    }

    /// Frees what the program thread has let go of, where it takes nobody's time.
    ///
    /// - Parameter compositions: Empty afterwards; nothing else of the program thread may hold any of them.
    func retire(_ compositions: inout [Composition]) {
        guard !compositions.isEmpty else { return }
        // In one step: the builder may be about to free what was let go of before.
        self.state.withLock { state in
            if self.builder != nil { state.retired += compositions }
            compositions.removeAll(keepingCapacity: true)
        }
        self.queueFreeing()
    }

    /// The job holds nothing itself: whoever submits one holds it until that is done, and might be done last.
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
