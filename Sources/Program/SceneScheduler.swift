package import LibAV
package import MediaTypes
import Synchronization

/// Holds the scene on air, the scheduled scenes, and the current texts and scores. Commands may be called from any
/// thread; the program thread polls once per tick.
///
/// Graphs are built and run before the program uses them: in a live room on a builder thread, except by ``prepare(_:)``.
/// Offline, where the program waits for its files anyway, the calling thread builds them.
package final class SceneScheduler: Sendable {
    struct Pending: Sendable {
        var tick: Int64
        var scene: PreparedScene
        /// Whether the scene waits for the beginning of a segment, or for a source to catch up, and no command
        /// requested this tick.
        var isHeldBack = false
    }

    struct State {
        var onAir: PreparedScene
        /// The previous scene, while a transition still shows it.
        var leaving: PreparedScene?
        /// Scheduled scenes, sorted by tick; at most one scene per tick.
        var pending: [Pending] = []
        /// Scenes of commands that are being executed: being built or already built, but not in `pending` yet.
        var coming: [PreparedScene] = []
        /// Scenes of the pipeline; in a live room the first ``warmLimit`` of them keep a built graph.
        var known: [PreparedScene] = []
        var words = SceneBuilder.Words()
        /// Formats of each source's frames: `formats` for the frame of this tick, `ahead` for the newest decoded frame,
        /// which is due later.
        var formats: [SourceID: PictureFormat] = [:]
        var ahead: [SourceID: PictureFormat] = [:]
        var tick: Int64 = 0
        var isRunning = false
        var isWarmingQueued = false
        var isDrawingQueued = false
        var changedTexts: Set<String> = []
        var changedScores: Set<String> = []
        var failures = 0
        var lastFailure: MediaError?
        /// Compositions that the program thread no longer uses, for the builder thread to release. A scene may still
        /// keep some of them; only the others are freed.
        var retired: [Composition] = []
        /// Scenes that have gone off air, for the builder thread to release.
        var left: [PreparedScene] = []
    }

    /// Number of pipeline scenes whose graphs stay built; further ones are built when they are requested. Each graph
    /// keeps a few megabytes of frame memory.
    package static let warmLimit = 8
    /// Maximum number of scheduled scenes.
    package static let pendingLimit = 64
    /// Number of compositions kept for the scene on air, and for each other scene, as the formats of sources change.
    private static let variants = (onAir: 4, others: 2)
    /// Timeout for building a new scene, in milliseconds. A graph is normally ready in tens of milliseconds; after the
    /// timeout the command fails and changes nothing.
    private static let patience = 2_000

    package let canvas: Canvas
    /// The canvas may change its size only at multiples of this number of ticks: at the beginning of a segment.
    private let segmentTicks: Int64
    /// Whether nothing is composed, because the program has only audio: then no graph is built.
    private let isAudioOnly: Bool
    let factory: SceneBuilder
    let overlays = OverlayCache()
    let builder: BuilderThread?
    let state: Mutex<State>

    /// Creates a scheduler with `scene` on air. The graph of the scene is not built yet.
    ///
    /// - Parameters:
    ///   - isOffline: Whether graphs are built on the calling thread, while the program waits, instead of on a builder
    ///     thread.
    ///   - isAudioOnly: Whether no graph is built, because the program has only audio.
    package init(
        canvas: Canvas, scene: Scene, faces: [SourceID: SceneBuilder.Face], fonts: SceneFonts, isOffline: Bool,
        segmentTicks: Int64 = 1, isAudioOnly: Bool = false
    ) {
        self.canvas = canvas
        self.isAudioOnly = isAudioOnly
        self.segmentTicks = max(1, segmentTicks)
        self.factory = SceneBuilder(canvas: canvas, fonts: fonts, faces: faces, overlays: self.overlays)
        self.builder = isOffline ? nil : BuilderThread()
        self.state = Mutex(State(onAir: PreparedScene(scene)))
    }

    /// The scene that will be on air at the next tick: the scene on air, unless another one is scheduled for that tick.
    package var scene: Scene {
        self.state.withLock { state in
            state.pending.last { $0.tick <= state.tick + 1 }?.scene.scene ?? state.onAir.scene
        }
    }

    /// Scheduled scenes, sorted by tick.
    package var pendingScenes: [(tick: Int64, sceneID: String)] {
        self.state.withLock { $0.pending.map { ($0.tick, $0.scene.scene.sceneID) } }
    }

    /// Number of builds and drawings since the start that failed although their scene had been accepted, in libavfilter
    /// or when reading a file, and the last error.
    package var failures: (count: Int, last: MediaError?) { self.state.withLock { ($0.failures, $0.lastFailure) } }

    /// Builds the scene on air and the scenes of the pipeline, on the calling thread. The graphs of scenes beyond
    /// ``warmLimit``, and offline of all but the scene on air, are freed again: building them shows their errors.
    ///
    /// - Throws: ``MediaError`` if a scene cannot be built, for example because an image cannot be read.
    package func prepare(_ scenes: [Scene]) throws(MediaError) {
        let onAir = self.state.withLock { $0.onAir }
        var known: [PreparedScene] = []
        for scene in scenes { known.append(scene == onAir.scene ? onAir : PreparedScene(scene)) }
        self.state.withLock { [known] in $0.known = known }
        if onAir.isCold { try self.warm(onAir, for: [:]) }
        for (index, scene) in known.enumerated() where scene !== onAir {
            try self.warm(scene, for: [:])
            // Scenes beyond the limit are built once too, so that their errors are known at the start.
            if index >= Self.warmLimit || self.builder == nil { _ = scene.cool() }
        }
    }

    /// Builds the scene on air if it has no graph yet. A failure is counted; the program then shows nothing yet.
    func prepareOnAir() {
        let onAir = self.state.withLock { $0.onAir }
        if onAir.isCold { self.attempt { () throws(MediaError) in try self.warm(onAir, for: [:]) } }
    }

    // MARK: Commands, from any thread

    /// Puts `scene` on air at a tick, or as soon as its graph is built. Scenes come on air in the order of their ticks,
    /// not of the commands. If two scenes are scheduled for the same tick, the later command replaces the earlier one.
    /// A command for the next tick does not cancel scenes scheduled for later ticks.
    ///
    /// A scene without a graph for the current formats is built while this call waits, in a live room at most two
    /// seconds. The texts and scores of a scene that is not in the pipeline, on air or scheduled replace the values set
    /// earlier with ``setText(_:_:)`` and ``setScore(_:left:right:)``.
    ///
    /// A scene with another canvas size waits for the beginning of the next segment, unless a later command for the
    /// next tick replaces it.
    ///
    /// - Parameters:
    ///   - tick: Tick at which the scene comes on air; `nil` or a tick that has passed: the next tick.
    ///   - delay: Number of ticks the scene waits beyond the next one, unless `tick` is given. A later
    ///     command without `tick` replaces the waiting scene.
    /// - Returns: The tick at which the scene comes on air.
    /// - Throws: ``MediaError``; in that case nothing has changed.
    @discardableResult
    package func setScene(
        _ scene: Scene, at tick: Int64? = nil, after delay: Int64 = 0
    ) throws(MediaError) -> Int64 {
        let (known, words, formats) = self.state.withLock { state -> (PreparedScene?, SceneBuilder.Words, _) in
            let all = state.known + [state.onAir] + state.pending.map(\.scene)
            return (all.first { $0.scene == scene }, state.words, state.formats)
        }
        let warm = known ?? PreparedScene(scene)
        var fresh = words
        if known == nil {
            for text in scene.texts { fresh.texts[text.id] = nil }
            for bar in scene.bars { fresh.scores[bar.id] = nil }
        }
        self.state.withLock { $0.coming.append(warm) }
        defer {
            self.state.withLock { state in
                if let place = state.coming.firstIndex(where: { $0 === warm }) { state.coming.remove(at: place) }
            }
        }
        if !self.isAudioOnly, warm.best(for: formats)?.isExact != true {
            try self.warmWaiting(warm, formats, fresh)
        }
        guard self.isAudioOnly || !warm.isCold else {
            throw MediaError(
                .rejected, "scene \(scene.sceneID) could not be built at an earlier attempt", at: "program",
                fix: "correct the scene as the earlier error says; nothing on air has changed")
        }
        let result = self.state.withLock { [fresh] state -> Int64? in
            let next = state.isRunning ? state.tick + 1 : state.tick
            let waits = state.isRunning && tick == nil ? max(0, delay) : 0
            var due = max(next + waits, tick ?? next)
            if tick == nil { state.pending.removeAll { $0.isHeldBack } }
            let before = state.pending.last { $0.tick < due }?.scene ?? state.onAir
            let isHeldBack = state.isRunning && before.scene.size != scene.size
            if isHeldBack { due = (due + self.segmentTicks - 1) / self.segmentTicks * self.segmentTicks }
            state.pending.removeAll { $0.tick == due }
            guard state.pending.count < Self.pendingLimit else { return nil }
            let place = state.pending.firstIndex { $0.tick > due } ?? state.pending.endIndex
            state.pending.insert(
                Pending(tick: due, scene: warm, isHeldBack: tick == nil && (isHeldBack || waits > 0)), at: place)
            if known == nil { state.words = fresh }
            return due
        }
        guard let result else {
            throw MediaError(
                .rejected, "\(Self.pendingLimit) scenes are scheduled already", at: "program",
                fix: "wait until some of them are on air")
        }
        if known == nil { self.queueSweep() }
        return result
    }

    /// Sets the text `id` in every scene, from one of the next ticks on; a `text` of `nil` restores the scene's own
    /// text.
    package func setText(_ id: String, _ text: String?) {
        self.state.withLock { state in
            state.words.texts[id] = text
            state.changedTexts.insert(id)
        }
        self.queueDrawing()
    }

    /// Sets the two scores of the bar `id` in every scene, from one of the next ticks on.
    package func setScore(_ id: String, left: Int, right: Int) {
        self.state.withLock { state in
            state.words.scores[id] = (left, right)
            state.changedScores.insert(id)
        }
        self.queueDrawing()
    }

    /// Reports the format of a newly decoded frame that will be shown later, so that graphs for it are built before it
    /// is due.
    package func foresee(_ source: SourceID, _ format: PictureFormat) {
        let isNews = self.state.withLock { state -> Bool in
            defer { state.ahead[source] = format }
            return state.ahead[source] != format
        }
        if isNews { self.queueWarming() }
    }

    /// Waits until the texts and scores that were set before are drawn.
    ///
    /// - Parameter milliseconds: Timeout.
    /// - Returns: The first tick that shows them; `nil` if they are not drawn within the timeout.
    package func awaitDrawing(milliseconds: Int = 500) -> Int64? {
        if let builder = self.builder {
            // The first job draws the changes of all waiting callers.
            guard builder.wait(milliseconds: milliseconds, { [weak self] in self?.drawChanges() }) != nil else {
                return nil
            }
        }
        return self.state.withLock { $0.isRunning ? $0.tick + 1 : $0.tick }
    }

    /// Ends the builder thread after the waiting jobs. No more commands may follow.
    package func close() { self.builder?.close() }

    /// Compositions of the scene on air, the newest last; for tests.
    package var onAirCompositions: [Composition] { self.state.withLock { $0.onAir }.compositions }

    /// Waits until all requested builds and drawings are done; for tests.
    package func settle() { _ = self.builder?.wait(milliseconds: 10_000, isUrgent: false) { true } }

    // MARK: Building

    /// Builds `scene` on the builder thread, or offline on this thread, and waits for the result.
    private func warmWaiting(
        _ scene: PreparedScene, _ formats: [SourceID: PictureFormat], _ words: SceneBuilder.Words
    ) throws(MediaError) {
        guard let builder = self.builder else {
            try self.warm(scene, for: formats, words: words)
            return
        }
        let outcome = builder.wait(milliseconds: Self.patience) { [self] () -> Result<Void, MediaError> in
            do throws(MediaError) {
                try self.warm(scene, for: formats, words: words)
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        guard let outcome else {
            throw MediaError(
                .unavailable, "the scene was not ready in \(Self.patience) ms", at: "program",
                fix: "reduce the load of the machine, unless the program has ended; nothing on air has changed")
        }
        try outcome.get()
    }

    /// Builds `scene` for these formats if it has no such composition yet and they were not refused before. Does nothing
    /// if the program has only audio.
    ///
    /// - Parameters:
    ///   - replacing: Whether to build the composition even if it exists; the new one replaces all others of the scene.
    ///   - isAnew: Whether to build the composition even if it exists; the new one replaces only that one.
    func warm(
        _ scene: PreparedScene, for formats: [SourceID: PictureFormat], words: SceneBuilder.Words? = nil,
        replacing: Bool = false, isAnew: Bool = false
    ) throws(MediaError) {
        guard !self.isAudioOnly else { return }
        let (wanted, isGuess) = scene.wanted(formats)
        guard replacing || isAnew || scene.needs(wanted) else { return }
        let (now, tick, isOnAir) = self.state.withLock { ($0.words, $0.tick, $0.onAir === scene) }
        do {
            let composition = try self.factory.build(scene.scene, formats: wanted, words: words ?? now, tick: tick)
            // The replaced ones are freed here, on the builder thread.
            _ = scene.add(
                composition, limit: isOnAir ? Self.variants.onAir : Self.variants.others, replacing: replacing,
                isGuess: isGuess)
        } catch {
            // A combination that could be built before is not refused in future.
            if !isAnew { scene.refuse(wanted) }
            throw error
        }
    }

    /// Scenes that may come on air, the most urgent first.
    private var liveScenes: [PreparedScene] {
        self.state.withLock { state in
            var scenes = [state.onAir]
            if let leaving = state.leaving { scenes.append(leaving) }
            for pending in state.pending { scenes.append(pending.scene) }
            scenes += state.known.prefix(Self.warmLimit)
            var seen: Set<ObjectIdentifier> = []
            return scenes.filter { seen.insert(ObjectIdentifier($0)).inserted }
        }
    }

    /// Makes the builder thread build the missing graphs for the current and upcoming formats. Calls before that job
    /// runs add no further job.
    func queueWarming() {
        guard let builder = self.builder else { return }
        let isFirst = self.state.withLock { state -> Bool in
            defer { state.isWarmingQueued = true }
            return !state.isWarmingQueued
        }
        if isFirst { builder.submit { [weak self] in self?.warmAll() } }
    }

    private func warmAll() {
        let (now, ahead) = self.state.withLock { state in
            state.isWarmingQueued = false
            return (state.formats, state.formats.merging(state.ahead) { $1 })
        }
        for (index, scene) in self.liveScenes.enumerated() where !scene.isCold || index == 0 {
            self.attempt { () throws(MediaError) in
                if index == 0 { try self.warm(scene, for: now) }
                try self.warm(scene, for: ahead)
            }
        }
        self.sweep()
    }

    /// Builds a scene for the formats of this tick on the calling thread; used offline only.
    func warmNow(_ scene: PreparedScene, _ formats: [SourceID: PictureFormat]) {
        self.attempt { () throws(MediaError) in try self.warm(scene, for: formats) }
    }

    /// Makes the builder thread rebuild a scene for these formats. The old composition is released when the new one is
    /// on air. Called on the program thread; does nothing offline.
    func renew(_ scene: PreparedScene, _ formats: [SourceID: PictureFormat]) {
        self.builder?.submit { [weak self] in self?.remake(scene, formats) }
    }

    private func remake(_ scene: PreparedScene, _ formats: [SourceID: PictureFormat]) {
        self.attempt { () throws(MediaError) in try self.warm(scene, for: formats, isAnew: true) }
    }

    private func attempt(_ body: () throws(MediaError) -> Void) {
        do {
            try body()
        } catch {
            self.state.withLock { state in
                state.failures += 1
                state.lastFailure = error
            }
        }
    }

    // MARK: Drawing

    private func queueDrawing() {
        guard let builder = self.builder else {
            self.drawChanges()
            return
        }
        let isFirst = self.state.withLock { state -> Bool in
            defer { state.isDrawingQueued = true }
            return !state.isDrawingQueued
        }
        if isFirst { builder.submit(isUrgent: true) { [weak self] in self?.drawChanges() } }
    }

    /// Draws the texts and scores that commands have set, each once no matter how often it was set. If a text no longer
    /// fits the size reserved for it, the graphs are rebuilt.
    private func drawChanges() {
        let (texts, scores, words, formats) = self.state.withLock { state in
            state.isDrawingQueued = false
            defer {
                state.changedTexts = []
                state.changedScores = []
            }
            return (state.changedTexts, state.changedScores, state.words, state.formats)
        }
        for scene in self.liveScenes {
            let compositions = scene.compositions
            let renderer = self.renderer(for: scene)
            var isOutgrown = false
            for slot in Set(compositions.flatMap(\.slots)) {
                self.attempt { () throws(MediaError) in
                    switch slot.kind {
                    case .text(let style):
                        guard texts.contains(style.id),
                            let own = scene.scene.texts.first(where: { $0.id == style.id })
                        else { return }
                        var shown = style
                        shown.text = words.texts[style.id] ?? own.text
                        if try !self.factory.draw(shown, in: slot, renderer) { isOutgrown = true }
                    case .bar(let bar):
                        guard scores.contains(bar.id) else { return }
                        try self.factory.draw(bar, in: slot, words)
                    case .countdown, .ring: break
                    }
                }
            }
            if isOutgrown {
                self.attempt { () throws(MediaError) in
                    try self.warm(scene, for: formats, replacing: true)
                }
            }
        }
    }

    /// Draws the next seconds of every countdown that may become visible.
    func queueCountdowns(_ tick: Int64) {
        guard let builder = self.builder else {
            self.drawCountdowns(tick)
            return
        }
        builder.submit(isUrgent: true) { [weak self] in self?.drawCountdowns(tick) }
    }

    private func drawCountdowns(_ tick: Int64) {
        for scene in self.liveScenes {
            let renderer = self.renderer(for: scene)
            for slot in Set(scene.compositions.flatMap(\.slots)) {
                guard case .countdown(let countdown) = slot.kind else { continue }
                self.attempt { () throws(MediaError) in
                    try self.factory.draw(countdown, in: slot, tick: tick, renderer)
                }
            }
        }
        self.sweep()
    }

    /// Text renderer for the scene's canvas size.
    private func renderer(for scene: PreparedScene) -> TextRenderer {
        self.factory.text.on(scene.scene.canvas(in: self.canvas))
    }

    /// Frees images of decorations that no scene uses any more, after a scene that was not prepared has been scheduled.
    private func queueSweep() {
        guard let builder = self.builder else {
            self.sweep()
            return
        }
        builder.submit { [weak self] in self?.sweep() }
    }

    /// Number of cached images of texts and score bars.
    package var drawn: Int { self.overlays.count }

    private func sweep() {
        // Read `coming` before `liveScenes`: the builder has drawn the decorations of these scenes before their
        // commands complete, and a scene moves from `coming` to `pending`, which is read next.
        let (coming, tick) = self.state.withLock { ($0.coming, $0.tick) }
        let slots = Set((coming + self.liveScenes).flatMap(\.compositions).flatMap(\.slots))
        self.overlays.keep(slots, tick: tick, fps: self.canvas.fps)
    }
}
