package import LibAV
package import MediaTypes
import Synchronization

/// Which scene is on air, which come next, and what texts and scores say: commands go in from any thread, the program
/// asks once a tick.
///
/// Every graph is built and warm before the program sees it, by a builder thread of its own; offline, where the program
/// waits for its files anyway, by whoever asks.
package final class SceneDirector: Sendable {
    struct Pending: Sendable {
        var tick: Int64
        var scene: WarmScene
        /// It waits for a segment to begin, not for a tick somebody named.
        var isHeldBack = false
    }

    struct State {
        var onAir: WarmScene
        /// Before `onAir`, while a transition still shows it.
        var leaving: WarmScene?
        /// By tick; at most one for each.
        var pending: [Pending] = []
        /// Of commands that are being carried out: made for them, and not pending yet.
        var coming: [WarmScene] = []
        /// Scenes of the pipeline, warm all the time as far as ``warmLimit`` goes.
        var known: [WarmScene] = []
        var words = SceneFactory.Words()
        /// Formats of the pictures of this tick, and of the newest decoded ones, which are due later.
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
        /// What the program thread has let go of, for the builder to free: it has nothing else of these.
        var retired: [Composition] = []
        var left: [WarmScene] = []
    }

    /// Scenes of the pipeline that stay warm; further ones are warmed when they are asked for. Each holds the planes its
    /// graph works with, a few megabytes.
    package static let warmLimit = 8
    /// Scenes that may wait for their tick.
    package static let pendingLimit = 64
    /// Compositions of the scene on air, and of the others, for formats that come and go.
    private static let variants = (onAir: 4, others: 2)
    /// A new scene's graph is warm in tens of milliseconds; beyond this something is wrong, and nothing is changed.
    private static let patience = 2_000

    package let canvas: Canvas
    /// The canvas changes its size at multiples of so many ticks: where a segment begins.
    private let segmentTicks: Int64
    let factory: SceneFactory
    let board = DecorationBoard()
    let builder: BuilderThread?
    let state: Mutex<State>

    /// - Parameters:
    ///   - isOffline: The program waits for its graphs.
    package init(
        canvas: Canvas, scene: Scene, faces: [SourceID: SceneFactory.Face], fonts: SceneFonts, isOffline: Bool,
        segmentTicks: Int64 = 1
    ) {
        self.canvas = canvas
        self.segmentTicks = max(1, segmentTicks)
        self.factory = SceneFactory(canvas: canvas, fonts: fonts, faces: faces, board: self.board)
        self.builder = isOffline ? nil : BuilderThread()
        self.state = Mutex(State(onAir: WarmScene(scene)))
    }

    /// The scene on air, or the one that will be at the next tick.
    package var scene: Scene {
        self.state.withLock { state in
            state.pending.last { $0.tick <= state.tick + 1 }?.scene.scene ?? state.onAir.scene
        }
    }

    /// Scenes that wait for their tick, in its order.
    package var pendingScenes: [(tick: Int64, sceneID: String)] {
        self.state.withLock { $0.pending.map { ($0.tick, $0.scene.scene.sceneID) } }
    }

    /// Builds since the start that libavfilter or a file refused after they had been accepted, and the last reason.
    package var failures: (count: Int, last: MediaError?) { self.state.withLock { ($0.failures, $0.lastFailure) } }

    /// Builds and warms the scene on air and those of the pipeline.
    ///
    /// - Throws: ``MediaError``: what no scene can be made of, such as an image that cannot be read.
    package func prepare(_ scenes: [Scene]) throws(MediaError) {
        let onAir = self.state.withLock { $0.onAir }
        var known: [WarmScene] = []
        for scene in scenes { known.append(scene == onAir.scene ? onAir : WarmScene(scene)) }
        self.state.withLock { [known] in $0.known = known }
        if onAir.isCold { try self.warm(onAir, for: [:]) }
        for (index, scene) in known.enumerated() where scene !== onAir {
            try self.warm(scene, for: [:])
            // Built once all the same, so that what is wrong with it is known at the start.
            if index >= Self.warmLimit || self.builder == nil { _ = scene.cool() }
        }
    }

    /// Builds the scene on air unless that has been done; a failure is counted, and the program shows nothing yet.
    func prepareOnAir() {
        let onAir = self.state.withLock { $0.onAir }
        if onAir.isCold { self.attempt { () throws(MediaError) in try self.warm(onAir, for: [:]) } }
    }

    // MARK: Commands, from any thread

    /// Puts `scene` on air at a tick, or as soon as its graph is warm. Scenes wait for their ticks in order, whatever
    /// order they were asked for in; of two for one tick the later command counts; a command for the next tick leaves
    /// scenes alone that wait for a later one.
    ///
    /// A scene of the pipeline is warm; any other is built on the builder's thread while this waits, at most two
    /// seconds. Its texts count from then on, whatever ``setText(_:_:)`` said before.
    ///
    /// A scene on a canvas of another size waits for the next segment to begin, unless a command for the next tick comes
    /// before it.
    ///
    /// - Parameters:
    ///   - tick: `nil` or a tick that has passed: the next one.
    ///   - delay: Ticks the scene waits beyond the next one, unless a tick is named or another command comes before.
    /// - Returns: The tick at which it comes on air.
    /// - Throws: ``MediaError``; nothing has changed then.
    @discardableResult
    package func setScene(
        _ scene: Scene, at tick: Int64? = nil, after delay: Int64 = 0
    ) throws(MediaError) -> Int64 {
        let (known, words, formats) = self.state.withLock { state -> (WarmScene?, SceneFactory.Words, _) in
            let all = state.known + [state.onAir] + state.pending.map(\.scene)
            return (all.first { $0.scene == scene }, state.words, state.formats)
        }
        let warm = known ?? WarmScene(scene)
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
        if warm.best(for: formats)?.isExact != true { try self.warmWaiting(warm, formats, fresh) }
        guard !warm.isCold else {
            throw MediaError(
                .rejected, "scene \(scene.sceneID) was refused before", at: "program",
                fix: "see the earlier answer; nothing on air has changed")
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
                .rejected, "\(Self.pendingLimit) scenes are waiting for their time already", at: "program",
                fix: "wait until some have been on air")
        }
        if known == nil { self.queueSweep() }
        return result
    }

    /// Lets the text `id` of every scene say `text` from one of the next ticks on; `nil`: what the scene says.
    package func setText(_ id: String, _ text: String?) {
        self.state.withLock { state in
            state.words.texts[id] = text
            state.changedTexts.insert(id)
        }
        self.queueDrawing()
    }

    /// Lets the score bar `id` of every scene show these points from one of the next ticks on.
    package func setScore(_ id: String, left: Int, right: Int) {
        self.state.withLock { state in
            state.words.scores[id] = (left, right)
            state.changedScores.insert(id)
        }
        self.queueDrawing()
    }

    /// A source's decoder has made a picture of this format, to be shown later: graphs for it are made before it is due.
    package func foresee(_ source: SourceID, _ format: PictureFormat) {
        let isNews = self.state.withLock { state -> Bool in
            defer { state.ahead[source] = format }
            return state.ahead[source] != format
        }
        if isNews { self.queueWarming() }
    }

    /// Waits until the texts and scores set before are drawn.
    ///
    /// - Parameter milliseconds: Longest wait.
    /// - Returns: The first tick that shows them; `nil`: they are not drawn yet.
    package func awaitDrawing(milliseconds: Int = 500) -> Int64? {
        if let builder = self.builder {
            // Whoever comes first draws for all who wait.
            guard builder.wait(milliseconds: milliseconds, { [weak self] in self?.drawChanges() }) != nil else {
                return nil
            }
        }
        return self.state.withLock { $0.isRunning ? $0.tick + 1 : $0.tick }
    }

    /// No more commands: the builder's thread ends.
    package func close() { self.builder?.close() }

    /// Of the scene on air, the newest last; for tests.
    package var onAirCompositions: [Composition] { self.state.withLock { $0.onAir }.compositions }

    /// Waits until everything that was asked for is built and drawn; for tests.
    package func settle() { _ = self.builder?.wait(milliseconds: 10_000, isUrgent: false) { true } }

    // MARK: Building

    /// Builds `scene` where builds are made, and waits.
    private func warmWaiting(
        _ scene: WarmScene, _ formats: [SourceID: PictureFormat], _ words: SceneFactory.Words
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
                fix: "the machine is overloaded or the program is over; nothing on air has changed")
        }
        try outcome.get()
    }

    /// Builds `scene` for these formats unless it is there.
    ///
    /// - Parameter isAnew: Even if it is there, in the place of that.
    func warm(
        _ scene: WarmScene, for formats: [SourceID: PictureFormat], words: SceneFactory.Words? = nil,
        replacing: Bool = false, isAnew: Bool = false
    ) throws(MediaError) {
        let (wanted, isGuess) = scene.wanted(formats)
        guard replacing || isAnew || scene.needs(wanted) else { return }
        let (now, tick, isOnAir) = self.state.withLock { ($0.words, $0.tick, $0.onAir === scene) }
        do {
            let composition = try self.factory.build(scene.scene, formats: wanted, words: words ?? now, tick: tick)
            // Freed here, on the builder's thread, when this returns.
            _ = scene.add(
                composition, limit: isOnAir ? Self.variants.onAir : Self.variants.others, replacing: replacing,
                isGuess: isGuess)
        } catch {
            // What could be built before is no wrong combination.
            if !isAnew { scene.refuse(wanted) }
            throw error
        }
    }

    /// What may come on air, in the order of its urgency.
    private var liveScenes: [WarmScene] {
        self.state.withLock { state in
            var scenes = [state.onAir]
            if let leaving = state.leaving { scenes.append(leaving) }
            for pending in state.pending { scenes.append(pending.scene) }
            scenes += state.known.prefix(Self.warmLimit)
            var seen: Set<ObjectIdentifier> = []
            return scenes.filter { seen.insert(ObjectIdentifier($0)).inserted }
        }
    }

    /// Has the builder make what is missing for the formats of now and of soon. Any number of calls is one job.
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

    /// Builds for the formats of this very tick; offline alone.
    func warmNow(_ scene: WarmScene, _ formats: [SourceID: PictureFormat]) {
        self.attempt { () throws(MediaError) in try self.warm(scene, for: formats) }
    }

    /// Has the builder make a scene anew for these formats; what it was shown by goes when that is on air. Program thread; nothing
    /// happens offline.
    func renew(_ scene: WarmScene, _ formats: [SourceID: PictureFormat]) {
        self.builder?.submit { [weak self] in self?.remake(scene, formats) }
    }

    private func remake(_ scene: WarmScene, _ formats: [SourceID: PictureFormat]) {
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

    /// Draws the texts and scores that were set, each once however often it was. A text that has outgrown its place
    /// means new graphs.
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
                    case .countdown: break
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

    /// Draws the next seconds of every countdown that may be seen.
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

    /// For texts on the scene's canvas.
    private func renderer(for scene: WarmScene) -> TextRenderer {
        self.factory.text.on(scene.scene.canvas(in: self.canvas))
    }

    /// A scene that nobody knew has brought decorations of its own; those of the ones it follows are not drawn any more.
    private func queueSweep() {
        guard let builder = self.builder else {
            self.sweep()
            return
        }
        builder.submit { [weak self] in self?.sweep() }
    }

    /// Pictures of decorations that are kept, countdowns apart.
    package var drawn: Int { self.board.count }

    private func sweep() {
        // The builder has drawn what these show, and goes on before their command does. Looked at first: from here they become
        // pending, which is looked at next.
        let (coming, tick) = self.state.withLock { ($0.coming, $0.tick) }
        let slots = Set((coming + self.liveScenes).flatMap(\.compositions).flatMap(\.slots))
        self.board.keep(slots, tick: tick, fps: self.canvas.fps)
    }
}
