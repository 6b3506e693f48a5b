package import Control
import HLS
import MediaTypes
import PipelineSpec

/// Commands that set texts, scores and countdowns. They apply to every scene that contains the element.
extension SceneCommands {
    /// Sets the content of a text.
    ///
    /// - Returns: The reply, as JSON text.
    /// - Throws: 404 if no scene contains the text.
    package func setText(_ id: String, _ text: String) throws(ControlFailure) -> String {
        _ = try self.scenes(with: "text", id) { $0.texts.map(\.textID) }
        let overlays = self.host.withScenes { scenes, _ in
            scenes.overlays.texts[id] = text
            self.changes.program.setText(id, text)
            return scenes.overlays
        }
        return self.answer("text", id, overlays, [.init("text", .string(text))])
    }

    /// Sets the points of a score bar. A side that is nil is not changed.
    ///
    /// - Returns: The reply, as JSON text.
    /// - Throws: 404 if no scene contains the score bar.
    package func setScore(_ id: String, left: Int?, right: Int?) throws(ControlFailure) -> String {
        let scenes = try self.scenes(with: "score", id) { $0.scoreBars.map(\.scoreID) }
        let written = scenes.flatMap(\.scoreBars).first { $0.scoreID == id }.map { ($0.left, $0.right) }
        let (overlays, score) = self.host.withScenes { scenes, _ in
            let old = scenes.overlays.scores[id] ?? written ?? (0, 0)
            let score = (left: left ?? old.0, right: right ?? old.1)
            scenes.overlays.scores[id] = score
            self.changes.program.setScore(id, left: score.left, right: score.right)
            return (scenes.overlays, score)
        }
        let members: [JSONValue.Member] = [
            .init("left", JSONValue(score.left)), .init("right", JSONValue(score.right)),
        ]
        return self.answer("score", id, overlays, members)
    }

    /// Saves the overlays, waits until they are drawn, and returns the reply with the first tick that shows them.
    private func answer(
        _ sort: String, _ id: String, _ overlays: SceneMapping.Overlays, _ members: [JSONValue.Member]
    ) -> String {
        self.changes.parts.saved.saveOverlays(overlays)
        let times = self.changes.members(at: self.changes.program.awaitDrawing())
        return JSONValue.object([.init("\(sort)Id", .string(id))] + members + times).text
    }

    /// Sets the end of a countdown.
    ///
    /// - Returns: The reply, as JSON text.
    /// - Throws: 404 if no scene contains the countdown, 409 if it is only a countdown of the PK, 422 if the program
    ///   has not begun, the date-time is invalid, or the scene on air cannot be composed with the new end.
    package func setCountdown(_ id: String, _ end: CountdownEnd) throws(ControlFailure) -> String {
        guard let calendar = self.changes.calendar else {
            throw .invalidFormat("the program has not begun", fix: "wait for program.started", status: 422)
        }
        let tick: Int64
        switch end {
        case .seconds(let seconds): tick = self.changes.program.tick + Int64(seconds) * calendar.fps
        case .date(let text):
            guard let date = ProgramCalendar.parse(text) else {
                throw .invalidValue(
                    "endsAt", "\"\(text.prefix(64))\" is not a date-time", fix: "write it as 2026-01-31T20:00:00.000Z")
            }
            tick = calendar.tick(at: date)
        }
        _ = try self.scenes(with: "countdown", id) { $0.countdowns.map(\.countdownID) }
        let members = try self.changes.change { schedule throws(ControlFailure) in
            let scenes = schedule.sceneStore.scenes
            let clocks = scenes.flatMap(\.countdowns).filter { $0.countdownID == id }
            guard clocks.contains(where: { $0.clock == .scene }) else {
                throw .conflict(
                    "the countdown \"\(id.prefix(64))\" shows the time left in the PK's phase",
                    fix: "start the PK with another durationMs, or remove \"of\" from the countdown")
            }
            var changed = schedule
            changed.countdowns.tell(id, tick)
            changed.onAir.ends[id] = nil
            let members: [JSONValue.Member] = [.init("endsAt", .string(ProgramDate.format(calendar.date(of: tick))))]
            let onAir = changed.onAir
            guard let scene = scenes.first(where: { $0.sceneID == onAir.sceneID && $0.has(countdown: id) }) else {
                schedule = changed
                // No scene on air contains the countdown, so no frame shows the change yet.
                return members + self.changes.members(at: nil)
            }
            let first = try self.changes.compose(scene, onAir, at: nil, &changed, isUpdate: true)
            schedule = changed
            return members + self.changes.members(at: first)
        }
        return JSONValue.object([.init("countdownId", .string(id))] + members).text
    }

    /// All scenes of the room.
    ///
    /// - Throws: 404 if no scene contains an element of this kind and id.
    private func scenes(
        with sort: String, _ id: String, has: (PipelineSpec.Scene) -> [String]
    ) throws(ControlFailure) -> [PipelineSpec.Scene] {
        try self.host.checkOpen()
        let scenes = self.host.withScenes { scenes, _ in scenes.schedule.sceneStore.scenes }
        let known = Set(scenes.flatMap(has))
        guard known.contains(id) else {
            throw .notFound(
                "no scene of this room has the \(sort) \"\(id.prefix(64))\"",
                fix: known.isEmpty ? "add it to a scene" : "use one of: \(known.sorted().joined(separator: ", "))")
        }
        return scenes
    }
}

extension PipelineSpec.Scene {
    fileprivate func has(countdown id: String) -> Bool { self.countdowns.contains { $0.countdownID == id } }
}
