package import Control
import HLS
import MediaTypes
import PipelineSpec
import Program
import RoomScenes

/// Scenes by command. One command at a time; what fails changes nothing.
extension Room {
    /// Furthest a scene may be scheduled, in seconds.
    private static let horizon: Int64 = 60

    // MARK: The program

    package func setProgram(_ body: [UInt8]) throws(ControlFailure) -> ProgramReply {
        switch ProgramRequest.parse(body) {
        case .success(let request): return try self.setProgram(request)
        case .failure(let refusal): throw .refused(refusal.mistakes, as: ControlFailure.invalidFormat(_:fix:status:))
        }
    }

    /// Puts a scene on air at the next tick.
    package func setProgram(sceneID: String) throws(ControlFailure) {
        _ = try self.setProgram(ProgramRequest(sceneID))
    }

    private func setProgram(_ request: ProgramRequest) throws(ControlFailure) -> ProgramReply {
        try self.checkOpen()
        let number = self.value.withLock { value in
            value.lastRequest &+= 1
            return value.lastRequest
        }
        return try self.changeScenes { desk throws(ControlFailure) in
            guard let scene = desk.shelf[request.sceneID] else {
                throw .unknownScene(request.sceneID, among: desk.shelf.scenes)
            }
            let tick = try self.tick(at: request.at)
            // What would be replaced before the next tick need not be built.
            guard tick != nil || self.value.withLock({ $0.lastRequest == number }) else {
                throw .superseded("a newer request has changed the program", fix: "send it again if it still holds")
            }
            let before = tick == nil ? desk.onAir : nil
            let showing =
                tick == nil
                ? try self.command(scene, request.transition, &desk)
                : try self.show(scene, without: [], at: tick, request.transition, &desk)
            // A pane that had left may be back in the scene on air.
            let isShown = before?.sceneID == showing.sceneID && before?.without == showing.without
            if !isShown { self.announce(showing, reason: "command") }
            return self.answer(showing, changed: !isShown)
        }
    }

    /// The tick of a program date-time; `nil` for none.
    func tick(at text: String?) throws(ControlFailure) -> Int64? {
        guard let text else { return nil }
        guard let date = ProgramCalendar.parse(text) else {
            throw .invalidValue(
                "at", "\"\(text.prefix(64))\" is no date-time", fix: "write it as 2026-01-31T20:00:00.000Z")
        }
        guard let calendar = self.calendar else {
            throw .invalidValue("at", "the program has not begun", fix: "leave \"at\" out, or wait for program.started")
        }
        let tick = calendar.tick(at: date)
        let now = self.program.tick
        let fps = Int64(self.fps)
        guard tick > now else {
            throw .invalidValue(
                "at", "the program is at \(ProgramDate.format(calendar.date(of: now))) already",
                fix: "name a later date-time, or leave it out for the next tick")
        }
        guard tick <= now &+ Self.horizon * fps else {
            throw .invalidValue(
                "at", "that is more than \(Self.horizon) s ahead of \(ProgramDate.format(calendar.date(of: now)))",
                fix: "send the request later")
        }
        return tick
    }

    /// Puts a scene on air now, and tells the room's life that it was asked for: of what it knows of the sources, some
    /// panes may stay away. All or nothing.
    func command(
        _ scene: PipelineSpec.Scene, _ transition: PipelineSpec.Transition?, _ desk: inout SceneSchedule
    ) throws(ControlFailure) -> SceneSchedule.Showing {
        let (now, pipeline) = (self.lifeTime, self.pipeline)
        let event = RoomLife.Event.commanded(RoomLife.Scene(scene, in: pipeline))
        // Tried on a copy: the life goes on while the graph is built, and learns of the command when it can be carried out.
        var life = self.value.withLock(\.life)
        _ = life.receive(event, now: now)
        let planned = life.onAir
        let shown = planned.scene.id == scene.sceneID ? scene : desk.shelf[planned.scene.id] ?? scene
        if desk.onAir.sceneID != shown.sceneID || desk.onAir.without != planned.without {
            _ = try self.show(shown, without: planned.without, at: nil, transition, &desk)
        }
        self.value.withLock { self.receive(event, at: self.lifeTime, &$0) }
        self.settle(&desk)
        return desk.onAir
    }

    /// Builds and warms the scene and puts it on air.
    func show(
        _ scene: PipelineSpec.Scene, without: Set<SourceID>, at tick: Int64?, _ transition: PipelineSpec.Transition?,
        _ desk: inout SceneSchedule
    ) throws(ControlFailure) -> SceneSchedule.Showing {
        var showing = SceneSchedule.Showing(
            sceneID: scene.sceneID, tick: tick ?? self.program.tick + 1, transition: transition, without: without)
        SceneSchedule.begin(&showing, scene, fps: self.fps)
        showing.tick = try self.compose(scene, showing, at: tick, &desk)
        desk.note(showing, isNow: tick == nil)
        return showing
    }

    /// - Returns: The first tick it is on.
    func compose(
        _ scene: PipelineSpec.Scene, _ showing: SceneSchedule.Showing, at tick: Int64?, _ desk: inout SceneSchedule,
        isUpdate: Bool = false
    ) throws(ControlFailure) -> Int64 {
        let live = scene.isAutomatic ? self.liveUsers(fallback: desk.live) : nil
        let (pipeline, commanded, phaseEnd) = self.value.withLock {
            ($0.documents.running, $0.overlays, $0.life.phases.endsAt)
        }
        let mapped = SceneMapping.scene(
            scene, in: pipeline, without: showing.without, live: live,
            overlays: desk.overlays(
                of: showing, scene, commanded, phaseEnd: phaseEnd.flatMap { self.tick(ofLifeTime: $0) }),
            transition: isUpdate ? PipelineSpec.Transition() : showing.transition)
        do {
            let first = try self.program.setScene(mapped, at: tick)
            self.catchUp(with: commanded)
            self.mark(mapped, without: showing.without, at: first, isScheduled: tick != nil)
            if scene.isAutomatic { desk.live = live }
            return first
        } catch {
            throw .invalidLayout(error.what, fix: error.fix)
        }
    }

    // MARK: Documents

    package func scenesJSON() -> String {
        let desk = self.shownScenes
        let rows = desk.shelf.scenes.map { scene -> JSONValue in
            [
                "sceneId": .string(scene.sceneID), "revision": JSONValue(scene.revision),
                "uids": .array(scene.uids.map { .string($0) }), "auto": .bool(scene.isAutomatic),
                "onAir": .bool(scene.sceneID == desk.onAir.sceneID),
            ]
        }
        let coming = desk.upcoming.map { showing in
            JSONValue.object([.init("sceneId", .string(showing.sceneID))] + self.times(showing.tick))
        }
        let json: JSONValue = ["scenes": .array(rows), "upcoming": .array(coming)]
        return json.text
    }

    package func setScene(_ sceneID: String, _ body: [UInt8]) throws(ControlFailure) -> SceneReply {
        try self.checkOpen()
        let grants = self.grants()
        if let tree = Pipeline.document(body) { try Self.check(tree, grants) }
        let report = Scene.parse(
            body, sceneID: sceneID, in: self.pipeline, checks: RoomChecks.forRequests(grants, wall: self.clocks.wall))
        guard let parsed = report.scene else { throw .refusedScene(report.mistakes) }
        return try self.changeScenes { desk throws(ControlFailure) in
            let (scene, change) = try Self.judge(parsed, report.hasRevision, desk.shelf)
            var reply = SceneReply(
                sceneID: sceneID, revision: scene.revision, changed: change != .unchanged, effect: nil,
                warnings: report.warnings.map { "\($0.path): \($0.what)" })
            if change != .unchanged {
                let known = RoomLife.Scene(scene, in: self.pipeline)
                // Another document of the room may have come since this one was judged.
                if let gone = known.sources.first(where: { self.pipeline.source($0) == nil }) {
                    throw ControlFailure(
                        code: "requestFailed", number: 1417, status: 409,
                        what: "the source \(gone), which this scene shows, has just left the room",
                        fix: "send the scene again without it")
                }
                if let showing = try self.replace(scene, &desk) {
                    self.announce(showing, reason: "scene.changed")
                    reply.effect = self.effect(at: showing.tick)
                }
                desk.shelf.put(scene)
                self.value.withLock { $0.life.replace(known) }
                self.noteCommanded(scene: sceneID, revision: scene.revision, body)
                self.events.emit(
                    "scene.changed", ["scene": .string(sceneID), "revision": JSONValue(scene.revision)])
            }
            return reply
        }
    }

    private static func judge(
        _ scene: PipelineSpec.Scene, _ hasRevision: Bool, _ shelf: SceneShelf
    ) throws(ControlFailure) -> (PipelineSpec.Scene, SceneShelf.Change) {
        do throws(SceneShelf.Refusal) {
            return try shelf.judge(scene, hasRevision: hasRevision)
        } catch {
            switch error {
            case .superseded(let revision):
                throw .superseded(
                    "the scene \"\(scene.sceneID)\" has revision \(revision) already",
                    fix: "send a revision above \(revision)")
            case .full:
                throw .limitExceeded(
                    "the room has \(SceneShelf.limit) scenes", fix: "delete one that is not on air")
            }
        }
    }

    /// Takes the new document on air where the scene is, or is about to be.
    ///
    /// - Returns: What changes first; `nil`: the scene is neither.
    func replace(
        _ scene: PipelineSpec.Scene, _ desk: inout SceneSchedule
    ) throws(ControlFailure) -> SceneSchedule.Showing? {
        var changed = desk
        var first: SceneSchedule.Showing?
        if desk.onAir.sceneID == scene.sceneID {
            var showing = desk.onAir
            let new = CountdownEnds.beginning(scene.countdowns, at: self.program.tick, fps: self.fps)
            showing.ends.merge(new) { old, _ in old }
            showing.tick = try self.compose(
                scene, showing, at: nil, &changed, isUpdate: scene.transition.kind == .cut)
            changed.note(showing, isNow: true)
            first = showing
        }
        for var showing in desk.upcoming where showing.sceneID == scene.sceneID {
            showing.ends = [:]
            SceneSchedule.begin(&showing, scene, fps: self.fps)
            showing.tick = try self.compose(scene, showing, at: showing.tick, &changed)
            changed.note(showing, isNow: false)
            first = first ?? showing
        }
        desk = changed
        return first
    }

    package func removeScene(_ sceneID: String) throws(ControlFailure) -> String {
        try self.checkOpen()
        return try self.changeScenes { desk throws(ControlFailure) in
            guard let scene = desk.shelf[sceneID] else { throw .unknownScene(sceneID, among: desk.shelf.scenes) }
            if desk.isShown(sceneID) {
                throw ControlFailure(
                    code: "requestFailed", number: 1417, status: 409,
                    what: "the scene \"\(sceneID)\" is on air, or will be", fix: "put another one on air first")
            }
            let isRemoved = self.value.withLock { value in
                if value.life.scenesNeeded(by: value.life.pk).contains(sceneID) { return false }
                value.life.remove(sceneID)
                return true
            }
            guard isRemoved else {
                throw ControlFailure(
                    code: "requestFailed", number: 1417, status: 409,
                    what: "the running PK needs the scene \"\(sceneID)\"", fix: "remove it when the PK is over")
            }
            desk.shelf.remove(sceneID)
            self.noteRemoved(scene: scene)
            self.events.emit("scene.removed", ["scene": .string(sceneID)])
            return JSONValue.object([.init("sceneId", .string(sceneID)), .init("removed", true)]).text
        }
    }

    // MARK: Answers

    /// Ticks and dates; `nil` until the program has begun.
    var calendar: ProgramCalendar? {
        self.value.withLock { $0.lifecycle.origin }.map { ProgramCalendar(origin: $0, fps: Int64(self.fps)) }
    }

    /// When a tick is, in every word for it; empty until the program has begun, and for a tick that is not known yet.
    func effect(at tick: Int64?) -> EffectTime {
        guard let calendar = self.calendar, let tick else { return EffectTime() }
        return EffectTime(
            tick: tick, appliesAt: ProgramDate.format(calendar.date(of: tick)),
            programTimeMs: TimeMath.scale(tick, by: 1000, over: calendar.fps))
    }

    /// As ``effect(at:)``, as members of a reply.
    func times(_ tick: Int64?) -> [JSONValue.Member] { self.effect(at: tick).members }

    private func answer(_ showing: SceneSchedule.Showing, changed: Bool) -> ProgramReply {
        ProgramReply(sceneID: showing.sceneID, changed: changed, effect: self.effect(at: showing.tick))
    }

    func announce(_ showing: SceneSchedule.Showing, reason: String) {
        let effect = self.effect(at: showing.tick)
        self.events.emit(
            "program.scene",
            [
                "scene": .string(showing.sceneID), "tick": effect.tick.map { .integer($0) } ?? .null,
                "appliesAt": JSONValue(effect.appliesAt),
                "reason": .string(reason),
                "without": .array(showing.without.map(\.description).sorted().map { .string($0) }),
            ])
    }
}
