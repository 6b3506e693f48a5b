package import Control
import HLS
import MediaTypes
import PipelineSpec

/// Texts, scores and countdowns by command: they hold in every scene that has them.
extension Room {
    package func setText(_ id: String, _ text: String) throws(ControlFailure) -> String {
        try self.change("text", id, isDrawn: true, has: { $0.texts.map(\.textID) }) { desk, _ in
            desk.overlays.texts[id] = text
            self.program.setText(id, text)
            return [.init("text", .string(text))]
        }
    }

    package func setScore(_ id: String, left: Int?, right: Int?) throws(ControlFailure) -> String {
        try self.change("score", id, isDrawn: true, has: { $0.scoreBars.map(\.scoreID) }) { desk, scenes in
            let written = scenes.flatMap(\.scoreBars).first { $0.scoreID == id }.map { ($0.left, $0.right) }
            let old = desk.overlays.scores[id] ?? written ?? (0, 0)
            let score = (left: left ?? old.0, right: right ?? old.1)
            desk.overlays.scores[id] = score
            self.program.setScore(id, left: score.left, right: score.right)
            return [.init("left", JSONValue(score.left)), .init("right", JSONValue(score.right))]
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
        return try self.change("countdown", id, has: { $0.countdowns.map(\.countdownID) }) {
            desk, scenes throws(ControlFailure) in
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
                return members + self.times(drawnAt: nil)
            }
            let first = try self.compose(scene, onAir, at: nil, &changed, isUpdate: true)
            desk = changed
            return members + self.times(first)
        }
    }

    /// The countdowns of the first scene begin with the program.
    func startCountdowns(at tick: Int64) {
        self.desk.withLock { desk in
            guard desk.onAir.tick == 0, !desk.isResumed, let scene = desk.shelf[desk.onAir.sceneID],
                !scene.countdowns.isEmpty
            else {
                return
            }
            desk.onAir.tick = tick
            SceneDesk.begin(&desk.onAir, scene, fps: self.fps)
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
    func redrawCountdowns(isShown: Bool, _ desk: inout SceneDesk) {
        var showings: [(SceneDesk.Showing, Int64?)] = desk.upcoming.map { ($0, $0.tick) }
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

    /// Changes what commands have said of a thing that some scene has.
    ///
    /// - Parameter isDrawn: The change is drawn beside the program: the answer waits for that and says which tick shows it.
    private func change(
        _ sort: String, _ id: String, isDrawn: Bool = false, has: (PipelineSpec.Scene) -> [String],
        _ body: (inout SceneDesk, [PipelineSpec.Scene]) throws(ControlFailure) -> [JSONValue.Member]
    ) throws(ControlFailure) -> String {
        try self.checkOpen()
        let members = try self.desk.withLock { desk throws(ControlFailure) in
            let known = Set(desk.shelf.scenes.flatMap(has))
            guard known.contains(id) else {
                throw .notFound(
                    "no scene of this room has the \(sort) \"\(id.prefix(64))\"",
                    fix: known.isEmpty ? "add one to a scene" : "use one of: \(known.sorted().joined(separator: ", "))")
            }
            desk.advance(to: self.program.tick)
            let members = try body(&desk, desk.shelf.scenes)
            self.noteCommanded(desk, isDrawn ? .soon : .now)
            return members
        }
        // Outside the lock: nobody else's command waits for a drawing.
        let times = isDrawn ? self.times(drawnAt: self.program.awaitDrawing()) : []
        return JSONValue.object([.init("\(sort)Id", .string(id))] + members + times).text
    }
}

extension PipelineSpec.Scene {
    fileprivate func has(countdown id: String) -> Bool { self.countdowns.contains { $0.countdownID == id } }
}
