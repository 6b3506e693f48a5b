package import Control
import HLS
import MediaTypes
import PipelineSpec
import RoomScenes

/// Texts, scores and countdowns by command: they hold in every scene that has them.
extension Room {
    package func setText(_ id: String, _ text: String) throws(ControlFailure) -> String {
        _ = try self.scenes(with: "text", id) { $0.texts.map(\.textID) }
        let overlays = self.value.withLock { value in
            value.overlays.texts[id] = text
            self.program.setText(id, text)
            return value.overlays
        }
        return self.answer("text", id, overlays, [.init("text", .string(text))])
    }

    package func setScore(_ id: String, left: Int?, right: Int?) throws(ControlFailure) -> String {
        let scenes = try self.scenes(with: "score", id) { $0.scoreBars.map(\.scoreID) }
        let written = scenes.flatMap(\.scoreBars).first { $0.scoreID == id }.map { ($0.left, $0.right) }
        let (overlays, score) = self.value.withLock { value in
            let old = value.overlays.scores[id] ?? written ?? (0, 0)
            let score = (left: left ?? old.0, right: right ?? old.1)
            value.overlays.scores[id] = score
            self.program.setScore(id, left: score.left, right: score.right)
            return (value.overlays, score)
        }
        let members: [JSONValue.Member] = [
            .init("left", JSONValue(score.left)), .init("right", JSONValue(score.right)),
        ]
        return self.answer("score", id, overlays, members)
    }

    /// Saves the overlays, waits until they are drawn, and answers with the first tick that shows them.
    private func answer(
        _ sort: String, _ id: String, _ overlays: SceneMapping.Overlays, _ members: [JSONValue.Member]
    ) -> String {
        self.noteCommanded(overlays)
        let times = self.times(self.program.awaitDrawing())
        return JSONValue.object([.init("\(sort)Id", .string(id))] + members + times).text
    }

    /// Repeats the texts and scores that commands have set while a scene was being built with older ones.
    ///
    /// - Parameter built: What the scene was built with.
    func catchUp(with built: SceneMapping.Overlays) {
        self.value.withLock { value in
            for (id, text) in value.overlays.texts where built.texts[id] != text { self.program.setText(id, text) }
            for (id, score) in value.overlays.scores where built.scores[id].map({ $0 != score }) ?? true {
                self.program.setScore(id, left: score.left, right: score.right)
            }
        }
    }

    package func setCountdown(_ id: String, _ end: CountdownEnd) throws(ControlFailure) -> String {
        guard let calendar = self.calendar else {
            throw .invalidFormat("the program has not begun", fix: "wait for program.started", status: 422)
        }
        let tick: Int64
        switch end {
        case .seconds(let seconds): tick = self.program.tick + Int64(seconds) * calendar.fps
        case .date(let text):
            guard let date = ProgramCalendar.parse(text) else {
                throw .invalidValue(
                    "endsAt", "\"\(text.prefix(64))\" is no date-time", fix: "write it as 2026-01-31T20:00:00.000Z")
            }
            tick = calendar.tick(at: date)
        }
        _ = try self.scenes(with: "countdown", id) { $0.countdowns.map(\.countdownID) }
        let members = try self.changeScenes { desk throws(ControlFailure) in
            let scenes = desk.shelf.scenes
            let clocks = scenes.flatMap(\.countdowns).filter { $0.countdownID == id }
            guard clocks.contains(where: { $0.clock == .scene }) else {
                throw ControlFailure(
                    code: "requestFailed", number: 1417, status: 409,
                    what: "the countdown \"\(id.prefix(64))\" shows what is left of the PK's phase",
                    fix: "start the PK with another durationMs, or remove \"of\" from the countdown")
            }
            var changed = desk
            changed.countdowns.tell(id, tick)
            changed.onAir.ends[id] = nil
            let members: [JSONValue.Member] = [.init("endsAt", .string(ProgramDate.format(calendar.date(of: tick))))]
            let onAir = changed.onAir
            guard let scene = scenes.first(where: { $0.sceneID == onAir.sceneID && $0.has(countdown: id) }) else {
                desk = changed
                // No picture shows it yet.
                return members + self.times(nil)
            }
            let first = try self.compose(scene, onAir, at: nil, &changed, isUpdate: true)
            desk = changed
            return members + self.times(first)
        }
        return JSONValue.object([.init("countdownId", .string(id))] + members).text
    }

    /// The countdowns of the first scene begin with the program.
    func startCountdowns(at tick: Int64) {
        self.changeScenes { desk in
            guard desk.onAir.tick == 0, !desk.isResumed, let scene = desk.shelf[desk.onAir.sceneID],
                !scene.countdowns.isEmpty
            else {
                return
            }
            desk.onAir.tick = tick
            SceneSchedule.begin(&desk.onAir, scene, fps: self.fps)
            do throws(ControlFailure) {
                _ = try self.compose(scene, desk.onAir, at: nil, &desk, isUpdate: true)
            } catch {
                self.logger.warning("the countdowns stand still", metadata: ["error": "\(error.what)"])
            }
        }
    }

    /// Shows the end of a phase of the PK that has begun, in the scene on air and in those that are scheduled.
    ///
    /// - Parameter isShown: The scene on air has just been composed, with that end.
    func redrawCountdowns(isShown: Bool, _ desk: inout SceneSchedule) {
        var showings: [(SceneSchedule.Showing, Int64?)] = desk.upcoming.map { ($0, $0.tick) }
        if !isShown { showings.insert((desk.onAir, nil), at: 0) }
        for (showing, tick) in showings {
            guard let scene = desk.shelf[showing.sceneID], scene.countdowns.contains(where: { $0.clock == .pk }) else {
                continue
            }
            do throws(ControlFailure) {
                _ = try self.compose(scene, showing, at: tick, &desk, isUpdate: tick == nil)
            } catch {
                self.logger.warning("the countdowns stand still", metadata: ["error": "\(error.what)"])
            }
        }
    }

    /// All scenes of the room.
    ///
    /// - Throws: 404 if none of them has an element of this sort and id.
    private func scenes(
        with sort: String, _ id: String, has: (PipelineSpec.Scene) -> [String]
    ) throws(ControlFailure) -> [PipelineSpec.Scene] {
        try self.checkOpen()
        let scenes = self.value.withLock(\.scenes.shelf.scenes)
        let known = Set(scenes.flatMap(has))
        guard known.contains(id) else {
            throw .notFound(
                "no scene of this room has the \(sort) \"\(id.prefix(64))\"",
                fix: known.isEmpty ? "add one to a scene" : "use one of: \(known.sorted().joined(separator: ", "))")
        }
        return scenes
    }
}

extension PipelineSpec.Scene {
    fileprivate func has(countdown id: String) -> Bool { self.countdowns.contains { $0.countdownID == id } }
}
