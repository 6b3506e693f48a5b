package import Control
import MediaTypes
import PipelineSpec
import Program

/// Commands that put scenes on air, change them and remove them. Changes of scenes are carried out one at a time.
/// All commands also throw the errors of ``ScenesHost/checkOpen()``.
package struct SceneCommands: SceneControlling {
    let changes: SceneChanges
    var host: any ScenesHost { self.changes.host }

    /// Access to the scene commands of a room. Cheap to make.
    package init(_ changes: SceneChanges) { self.changes = changes }

    // MARK: The program

    /// Puts a scene on air, at the next tick or at a date-time.
    ///
    /// - Parameter body: The JSON body of the request.
    /// - Throws: 400 or 422 if the body is invalid, 404 if the room does not have the scene, 409 if a newer request has
    ///   replaced this one, 422 if the date-time is invalid or the scene cannot be composed.
    package func setProgram(_ body: [UInt8]) throws(ControlFailure) -> ProgramReply {
        switch ProgramRequest.parse(body) {
        case .success(let request): return try self.setProgram(request)
        case .failure(let refusal): throw .refused(refusal.mistakes, as: ControlFailure.invalidFormat(_:fix:status:))
        }
    }

    /// Puts a scene on air at the next tick.
    ///
    /// - Throws: The same errors as ``setProgram(_:)``.
    package func setProgram(sceneID: String) throws(ControlFailure) {
        _ = try self.setProgram(ProgramRequest(sceneID))
    }

    private func setProgram(_ request: ProgramRequest) throws(ControlFailure) -> ProgramReply {
        try self.host.checkOpen()
        let number = self.host.withScenes { scenes, _ in
            // A request for later replaces none that waits to go on air now.
            if request.at == nil { scenes.lastRequest &+= 1 }
            return scenes.lastRequest
        }
        return try self.changes.change { schedule throws(ControlFailure) in
            guard let scene = schedule.sceneStore[request.sceneID] else {
                throw .unknownScene(request.sceneID, among: schedule.sceneStore.scenes)
            }
            let tick = try self.changes.tick(at: request.at)
            // A scene that a newer request replaces before the next tick is not built.
            guard request.at != nil || self.host.withScenes({ scenes, _ in scenes.lastRequest == number }) else {
                throw .superseded("a newer request has changed the program", fix: "send the request again if needed")
            }
            let before = tick == nil ? schedule.onAir : nil
            let showing =
                tick == nil
                ? try self.changes.command(scene, request.transition, &schedule)
                : try self.changes.show(scene, without: [], at: tick, request.transition, &schedule)
            // The same scene may be on air with other hidden panes.
            let isShown = before?.sceneID == showing.sceneID && before?.without == showing.without
            if !isShown { self.changes.announce(showing, reason: "command") }
            return ProgramReply(
                sceneID: showing.sceneID, changed: !isShown, effect: self.changes.effect(at: showing.tick))
        }
    }

    // MARK: Documents

    /// The reply with all scenes of the room, their panes, which of them is on air, and which are scheduled, and with the
    /// current scores, as JSON text.
    package func scenesJSON() -> String {
        let schedule = self.changes.shown
        let (canvas, scores) = self.host.withScenes { scenes, shared in (shared.pipeline.canvas, scenes.overlays.scores)
        }
        let live = schedule.live
        let rows = schedule.sceneStore.scenes.map { scene -> JSONValue in
            let panes = scene.resolvedPanes(canvas: canvas, live: live).map { placed -> JSONValue in
                [
                    "uid": .string(placed.pane.source.uid),
                    "streamType": .string(placed.pane.source.streamType.rawValue),
                    "x": JSONValue(placed.rect.x), "y": JSONValue(placed.rect.y), "width": JSONValue(placed.rect.width),
                    "height": JSONValue(placed.rect.height), "zOrder": JSONValue(placed.pane.zOrder),
                ]
            }
            return [
                "sceneId": .string(scene.sceneID), "revision": JSONValue(scene.revision),
                "uids": .array(scene.uids.map { .string($0) }), "auto": .bool(scene.isAutomatic),
                "onAir": .bool(scene.sceneID == schedule.onAir.sceneID), "panes": .array(panes),
            ]
        }
        let coming = schedule.upcoming.map { showing in
            JSONValue.object([.init("sceneId", .string(showing.sceneID))] + self.changes.members(at: showing.tick))
        }
        let json: JSONValue = [
            "scenes": .array(rows), "upcoming": .array(coming),
            "scores": .array(Self.scores(of: schedule.sceneStore.scenes, scores)),
        ]
        return json.text
    }

    /// The scores of all score bars: those that commands have set, or else those of the first scene that has the bar.
    private static func scores(
        of scenes: [PipelineSpec.Scene], _ commanded: [String: (left: Int, right: Int)]
    ) -> [JSONValue] {
        var seen: Set<String> = []
        return scenes.flatMap(\.scoreBars).filter { seen.insert($0.scoreID).inserted }.map { bar in
            let (left, right) = commanded[bar.scoreID] ?? (bar.left, bar.right)
            return ["scoreId": .string(bar.scoreID), "left": JSONValue(left), "right": JSONValue(right)]
        }
    }

    /// Adds a scene, or replaces the scene with this id.
    ///
    /// - Parameter body: The JSON document of the scene.
    /// - Throws: 403 if the document uses files that requests may not use, 400 or 422 if it has errors, 409 if its
    ///   revision is too old or a source of it has just been removed, 422 if the scene is on air or scheduled and
    ///   cannot be composed, 429 if the room has too many scenes.
    package func setScene(_ sceneID: String, _ body: [UInt8]) throws(ControlFailure) -> SceneReply {
        try self.host.checkOpen()
        let report = try self.host.readScene(body, sceneID: sceneID)
        guard let parsed = report.scene else { throw .refusedScene(report.mistakes) }
        return try self.changes.change { schedule throws(ControlFailure) in
            let (scene, change) = try Self.judge(parsed, report.hasRevision, schedule.sceneStore)
            var reply = SceneReply(
                sceneID: sceneID, revision: scene.revision, changed: change != .unchanged, effect: nil,
                warnings: report.warnings.map { "\($0.path): \($0.what)" })
            if change != .unchanged {
                let pipeline = self.host.withScenes { $1.pipeline }
                // The source may have been removed from the room's document since this scene was checked.
                if let gone = scene.sources.first(where: { pipeline.source($0) == nil }) {
                    throw .conflict(
                        "the source \(gone), which this scene shows, has just been removed from the room",
                        fix: "send the scene again without it")
                }
                if let showing = try self.changes.replace(scene, &schedule) {
                    self.changes.announce(showing, reason: "scene.changed")
                    reply.effect = self.changes.effect(at: showing.tick)
                }
                schedule.sceneStore.put(scene)
                self.host.withScenes { scenes, _ in scenes.life.replace(scene) }
                self.changes.parts.saved.saveScene(sceneID, revision: scene.revision, body)
                self.changes.announceChange(of: sceneID, revision: scene.revision)
            }
            return reply
        }
    }

    private static func judge(
        _ scene: PipelineSpec.Scene, _ hasRevision: Bool, _ sceneStore: SceneStore
    ) throws(ControlFailure) -> (PipelineSpec.Scene, SceneStore.Change) {
        do throws(SceneStore.Refusal) {
            return try sceneStore.judge(scene, hasRevision: hasRevision)
        } catch {
            switch error {
            case .superseded(let revision):
                throw .superseded(
                    "the scene \"\(scene.sceneID)\" has revision \(revision) already",
                    fix: "send a revision above \(revision)")
            case .full:
                throw .limitExceeded(
                    "the room has \(SceneStore.limit) scenes", fix: "delete a scene that is not on air")
            }
        }
    }

    /// Removes a scene.
    ///
    /// - Returns: The reply, as JSON text.
    /// - Throws: 404 if the room does not have the scene, 409 if it is on air or scheduled, or if the running PK needs
    ///   it.
    package func removeScene(_ sceneID: String) throws(ControlFailure) -> String {
        try self.host.checkOpen()
        return try self.changes.change { schedule throws(ControlFailure) in
            guard let scene = schedule.sceneStore[sceneID] else {
                throw .unknownScene(sceneID, among: schedule.sceneStore.scenes)
            }
            if schedule.isShown(sceneID) {
                throw .conflict(
                    "the scene \"\(sceneID)\" is on air or scheduled",
                    fix: "remove it when another scene is on air and this one is not scheduled")
            }
            let (isRemoved, isOfFile) = self.host.withScenes { scenes, context in
                if scenes.life.scenesNeeded(by: scenes.life.pk).contains(sceneID) { return (false, false) }
                scenes.life.remove(sceneID)
                return (true, context.pipeline.scene(sceneID) != nil)
            }
            guard isRemoved else {
                throw .conflict(
                    "the running PK needs the scene \"\(sceneID)\"", fix: "remove the scene when the PK has ended")
            }
            schedule.sceneStore.remove(sceneID)
            self.changes.parts.saved.saveRemoval(of: scene, isOfFile: isOfFile)
            self.changes.announceRemoval(of: sceneID)
            return JSONValue.object([.init("sceneId", .string(sceneID)), .init("removed", true)]).text
        }
    }
}
