package import Control
import Events
import MediaTypes
package import PipelineSpec

/// Commands that start a PK, switch it to its punishment, and end it.
extension SceneCommands {
    /// Carries out a command for the PK, and puts the scene of the new phase on air.
    ///
    /// - Returns: The reply, as JSON text; see ``pk``.
    /// - Throws: 404 if the room has no PK, 409 if the program does not run, the command does not fit the current
    ///   phase, or a source or a scene of the PK is missing, 422 if the room does not have a scene that the command
    ///   names.
    package func changePK(_ command: PKCommand) throws(ControlFailure) -> String {
        try self.host.checkOpen()
        try self.check(command)
        guard self.host.withScenes({ $1.isLive }) else {
            throw .conflict("no source has published yet", fix: "wait until a source is live")
        }
        do throws(PKStateMachine.Refusal) {
            try self.changes.commandPK { life, now throws(PKStateMachine.Refusal) in
                switch command {
                case .start(let start):
                    try life.startPK(
                        SceneSelector.PK.Scenes(start), countdown: Self.nanoseconds(start.countdownMs),
                        duration: Self.nanoseconds(start.durationMs), punish: Self.nanoseconds(start.punishMs), now: now
                    )
                case .punish(let duration): try life.punishPK(duration: Self.nanoseconds(duration), now: now)
                case .end: try life.endPK(now: now)
                }
            }
        } catch {
            throw .conflict(error.what, fix: error.fix)
        }
        return self.pk.replyValue.text
    }

    /// Checks a command. Throws 422 if it names a scene that the room does not have, and 404 if the room has no PK.
    private func check(_ command: PKCommand) throws(ControlFailure) {
        let life = self.host.withScenes { scenes, _ in scenes.life }
        var hasPK = life.shownPK != nil
        if case .start(let start) = command {
            let scenes = SceneSelector.PK.Scenes(start)
            for member in scenes.members where life.scene(member.id) == nil {
                throw .invalidValue(
                    member.name, "there is no scene \"\(member.id.prefix(64))\"",
                    fix: "use one of: \(life.scenes.map(\.sceneID).joined(separator: ", "))")
            }
            hasPK = life.pk != nil || scenes.scene != nil
        }
        guard hasPK else {
            throw .notFound(
                "this room has no PK", fix: "send pk:start with a \"scene\" of the PK, or add \"pk\" to the pipeline")
        }
    }

    /// Checks a new version of the document. Throws 409 if a PK is running, and the new version removes `pk` or a scene
    /// that the PK still needs.
    ///
    /// - Parameter removed: Ids of the scenes that the new version removes.
    package func checkPK(from before: Pipeline, to after: Pipeline, removing removed: [String]) throws(ControlFailure) {
        let life = self.host.withScenes { scenes, _ in scenes.life }
        guard life.phases.isRunning else { return }
        let pk = after.pk.map(SceneSelector.PK.init)
        if before.pk != nil, pk == nil {
            throw Self.refused(
                "pk", "a PK is running, in phase \(life.phases.phase.rawValue)",
                fix: "end the PK first (POST /v1/pk:end), or remove \"pk\" when the PK has ended")
        }
        let needed = life.scenesNeeded(by: pk)
        if let scene = removed.first(where: { needed.contains($0) }) {
            throw Self.refused(
                "scenes", "the running PK needs the scene \"\(scene)\"", fix: "remove the scene when the PK has ended")
        }
    }

    private static func refused(_ path: String, _ what: String, fix: String) -> ControlFailure {
        .refused([SpecDiagnostic(path: path, at: .none, what: what, fix: fix)]) { what, fix, _ in
            .conflict(what, fix: fix)
        }
    }

    private static func nanoseconds(_ milliseconds: Int?) -> Int64? { milliseconds.map { Int64($0) &* 1_000_000 } }

    /// The reply about the PK; nil if the pipeline has no PK and no command has started one.
    package var pk: PKReply? {
        let (shown, phases, origin, delay) = self.host.withScenes { scenes, context in
            (scenes.life.shownPK, scenes.life.phases, context.origin, context.pipeline.program.delayMs)
        }
        let times = self.changes.times
        return shown.map { pk in
            PKReply(
                pk: pk, phase: phases.phase, endsAt: times.date(ofLife: phases.endsAt, origin: origin),
                remainingMs: phases.endsAt.map { max(0, $0 &- times.lifeTime) / 1_000_000 },
                delayMs: delay)
        }
    }
}

extension SceneSelector.PK.Scenes {
    fileprivate init(_ start: PKCommand.Start) {
        self.init(
            scene: start.scene, countdownScene: start.countdownScene, punishScene: start.punishScene,
            endScene: start.endScene)
    }
}
