package import Control
package import MediaTypes
package import PipelineSpec
import Program

/// Changes the room's scenes. Only one thread at a time can change them; threads that only read them do not wait for a
/// change.
///
/// A change may build a filter graph, which takes long on an overloaded machine. Therefore it works on a copy of
/// ``ScenesState/schedule``, which is written back when the change is done, and the room's state is not locked in between.
/// The actions of ``SceneSelector`` are applied by ``settle(_:)``: a separate thread calls it in a live room, as do commands
/// that put a scene on air or change the PK. Offline, the program thread calls it between two ticks.
package struct SceneChanges: Sendable {
    let host: any ScenesHost
    let parts: SceneParts

    /// Access to the scene changes of a room. Cheap to make.
    package init(_ host: any ScenesHost, _ parts: SceneParts) {
        self.host = host
        self.parts = parts
    }

    package var times: ProgramTimes { self.parts.times }
    var program: ProgramStage { self.parts.program }

    func emit(_ type: String, _ members: KeyValuePairs<String, JSONValue>) { self.parts.emit(type, members) }

    // MARK: Serializing changes

    /// Changes the scenes. Waits until a change by another thread is done.
    ///
    /// - Parameter body: Changes the copy; if it throws, the changes that it has made to the copy are kept. Must not
    ///   call this function.
    package func change<Result, Failure: Error>(
        _ body: (inout SceneSchedule) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try self.parts.turn.withLock { _ throws(Failure) in
            var schedule = self.host.withScenes { scenes, _ in scenes.schedule }
            defer {
                self.host.withScenes { [schedule] scenes, context in
                    scenes.schedule = schedule
                    self.parts.saved.saveSchedule(scenes, context)
                }
            }
            self.advance(&schedule)
            return try body(&schedule)
        }
    }

    /// The scenes, as of the tick on air. Reading them does not wait for a change by another thread.
    package var shown: SceneSchedule {
        var schedule = self.host.withScenes { scenes, _ in scenes.schedule }
        schedule.advance(to: self.program.tick)
        return schedule
    }

    /// Moves scheduled scenes whose tick is due to the scene on air, and reports them to ``SceneSelector``.
    private func advance(_ schedule: inout SceneSchedule) {
        schedule.advance(to: self.program.tick)
        let begun = schedule.takeBegun()
        if begun.isEmpty { return }
        let now = self.times.lifeTime
        self.host.withScenes { scenes, context in
            for scene in begun {
                self.receive(.commanded(scene), at: now, &scenes, context)
            }
        }
    }

    // MARK: Pending changes

    /// Applies the pending changes (``ScenesState/work``) on the calling thread.
    func settle() { self.change { self.settle(&$0) } }

    /// Applies the pending changes and lays out the automatic scene on air again. Called between two ticks of an
    /// offline program.
    package func settleOffline() {
        self.change { schedule in
            self.settle(&schedule)
            self.layOutAnew(&schedule)
        }
    }

    /// Applies the pending changes (``ScenesState/work``). Must be called within ``change(_:)``.
    package func settle(_ schedule: inout SceneSchedule) {
        let (work, pk) = self.host.withScenes { scenes, _ in (scenes.work.take(), scenes.life.pkScene) }
        let shownAt =
            work.isShowDue ? self.putOnAir(self.host.withScenes { scenes, _ in scenes.life.planned }, &schedule) : nil
        if !work.phases.isEmpty { self.redrawCountdowns(isShown: shownAt != nil, &schedule) }
        self.host.marks.mark(work.phases, of: pk, shownAt: shownAt)
        if work.isLayoutDue { self.layOutAnew(&schedule) }
    }

    /// Wakes the thread that applies pending changes. Does nothing offline, where the program thread applies them at
    /// its next tick.
    package func requestSettling() { if !self.times.isOffline { self.parts.wake.signal() } }

    /// Requests that the automatic scene on air is laid out again. Does nothing offline, where that happens at every
    /// tick.
    package func requestLayout() {
        if self.times.isOffline { return }
        self.host.withScenes { scenes, _ in scenes.work.isLayoutDue = true }
        self.requestSettling()
    }

    /// Applies pending changes (``ScenesState/work``) now and whenever the thread is woken. Blocks until ``finish()``.
    package func run() {
        while !self.host.withScenes({ scenes, _ in scenes.isThreadOver }) {
            self.settle()
            self.parts.wake.wait(for: nil)
        }
    }

    /// Ends ``run()``.
    package func finish() {
        self.host.withScenes { scenes, _ in scenes.isThreadOver = true }
        self.parts.wake.signal()
    }

    /// Composes the planned scene, unless it is already on air with the same hidden panes, and emits its event. If it
    /// cannot be composed, then the scene on air stays, and the next ``SceneSelector/Action/show(_:)`` tries again.
    ///
    /// - Returns: The first tick that shows the scene; nil if nothing changes.
    private func putOnAir(_ show: SceneSelector.Show, _ schedule: inout SceneSchedule) -> Int64? {
        guard schedule.onAir.sceneID != show.scene.sceneID || schedule.onAir.without != show.without else { return nil }
        guard let scene = schedule.sceneStore[show.scene.sceneID] else { return nil }
        do throws(ControlFailure) {
            let showing = try self.show(scene, without: show.without, at: nil, nil, &schedule)
            self.announce(showing, reason: show.reason)
            return showing.tick
        } catch {
            self.parts.logger.error("a scene cannot be composed", metadata: ["error": "\(error.what)"])
            self.emit(
                "program.failed",
                ["scene": .string(show.scene.sceneID), "reason": .string("\(error.what). \(error.fix)")])
            return nil
        }
    }

    // MARK: Putting a scene on air

    /// Puts a scene on air now, and passes the request to ``SceneSelector``, which may hide panes of lost sources or
    /// choose a fallback scene. If this fails, then nothing has changed.
    ///
    /// - Returns: The entry that is on air afterwards.
    package func command(
        _ scene: PipelineSpec.Scene, _ transition: PipelineSpec.Transition?, _ schedule: inout SceneSchedule
    ) throws(ControlFailure) -> SceneSchedule.Showing {
        let now = self.times.lifeTime
        // Planned on a copy, because ``SceneSelector`` may receive other events while the graph is built. It receives
        // the command when that is done.
        let planned = self.host.withScenes { scenes, _ in
            var life = scenes.life
            _ = life.receive(.commanded(scene), now: now)
            return life.planned
        }
        let shown = planned.scene.sceneID == scene.sceneID ? scene : schedule.sceneStore[planned.scene.sceneID] ?? scene
        if schedule.onAir.sceneID != shown.sceneID || schedule.onAir.without != planned.without {
            _ = try self.show(shown, without: planned.without, at: nil, transition, &schedule)
        }
        self.host.withScenes { scenes, context in
            self.receive(.commanded(scene), at: self.times.lifeTime, &scenes, context)
        }
        self.settle(&schedule)
        return schedule.onAir
    }

    /// Composes a scene and puts it on air.
    ///
    /// - Parameter tick: The first tick that shows the scene; nil for the next possible tick.
    /// - Returns: The entry, with the tick that first shows the scene.
    package func show(
        _ scene: PipelineSpec.Scene, without: Set<SourceID>, at tick: Int64?, _ transition: PipelineSpec.Transition?,
        _ schedule: inout SceneSchedule
    ) throws(ControlFailure) -> SceneSchedule.Showing {
        var showing = SceneSchedule.Showing(
            sceneID: scene.sceneID, tick: tick ?? self.program.tick + 1, transition: transition, without: without)
        SceneSchedule.begin(&showing, scene, fps: self.times.fps)
        showing.tick = try self.compose(scene, showing, at: tick, &schedule)
        schedule.note(showing, isNow: tick == nil)
        return showing
    }

    /// Composes a scene again after its document has changed, if it is on air or scheduled.
    ///
    /// - Returns: The entry that first shows the change; nil if the scene is neither on air nor scheduled.
    package func replace(
        _ scene: PipelineSpec.Scene, _ schedule: inout SceneSchedule
    ) throws(ControlFailure) -> SceneSchedule.Showing? {
        var changed = schedule
        var onAir: SceneSchedule.Showing?
        var scheduled: [SceneSchedule.Showing] = []
        let planned = schedule.upcoming.filter { $0.sceneID == scene.sceneID }
        do throws(ControlFailure) {
            // Before the scene on air, which then has not changed if one of these cannot be composed.
            for var showing in planned {
                showing.ends = [:]
                SceneSchedule.begin(&showing, scene, fps: self.times.fps)
                showing.tick = try self.compose(scene, showing, at: showing.tick, &changed)
                scheduled.append(showing)
            }
            if schedule.onAir.sceneID == scene.sceneID {
                var showing = schedule.onAir
                let new = CountdownEnds.beginning(scene.countdowns, at: self.program.tick, fps: self.times.fps)
                showing.ends.merge(new) { old, _ in old }
                showing.tick = try self.compose(
                    scene, showing, at: nil, &changed, isUpdate: scene.transition.kind == .cut)
                onAir = showing
            }
        } catch {
            // A refused command changes nothing.
            if let old = schedule.sceneStore[scene.sceneID] {
                for showing in planned.prefix(scheduled.count) {
                    _ = try? self.compose(old, showing, at: showing.tick, &changed)
                }
            }
            throw error
        }
        if let onAir { changed.note(onAir, isNow: true) }
        for showing in scheduled { changed.note(showing, isNow: false) }
        schedule = changed
        return onAir ?? scheduled.first
    }

    /// Composes a scene that is on air or scheduled, and passes it to the program.
    ///
    /// - Parameters:
    ///   - tick: The first tick that should show the scene; nil for the next possible tick.
    ///   - isUpdate: Whether the scene on air is replaced without a transition.
    /// - Returns: The first tick that shows the scene.
    /// - Throws: 422 if it cannot be composed.
    func compose(
        _ scene: PipelineSpec.Scene, _ showing: SceneSchedule.Showing, at tick: Int64?,
        _ schedule: inout SceneSchedule, isUpdate: Bool = false
    ) throws(ControlFailure) -> Int64 {
        let live = scene.isAutomatic ? self.liveUsers(fallback: schedule.live) : nil
        let (pipeline, commanded, phaseEnd) = self.host.withScenes { scenes, context in
            (context.pipeline, scenes.overlays, scenes.life.phases.endsAt)
        }
        let mapped = SceneMapping.scene(
            scene, in: pipeline, without: showing.without, live: live,
            overlays: schedule.overlays(
                of: showing, scene, commanded, phaseEnd: phaseEnd.flatMap { self.times.tick(ofLife: $0) }),
            transition: isUpdate ? PipelineSpec.Transition() : showing.transition)
        do {
            let first = try self.program.setScene(mapped, at: tick)
            self.catchUp(with: commanded)
            self.host.marks.mark(mapped, without: showing.without, at: first, isScheduled: tick != nil)
            if scene.isAutomatic { schedule.live = live }
            return first
        } catch {
            throw .invalidLayout(error.what, fix: error.fix)
        }
    }

    /// Applies texts and scores that commands have set while a scene was being composed with the previous values.
    ///
    /// - Parameter built: The overlays with which the scene was composed.
    private func catchUp(with built: SceneMapping.Overlays) {
        self.host.withScenes { scenes, _ in
            for (id, text) in scenes.overlays.texts where built.texts[id] != text { self.program.setText(id, text) }
            for (id, score) in scenes.overlays.scores where built.scores[id].map({ $0 != score }) ?? true {
                self.program.setScore(id, left: score.left, right: score.right)
            }
        }
    }
}
