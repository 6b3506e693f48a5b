import PublishAuth
package import Control
import Events
import Ingest
import MediaTypes
import PipelineSpec
import Program
import RoomScenes
import RoomSources
import Threading

/// The room's document, written anew while the room runs: all of it holds from one moment on, or nothing does.
extension Room {
    package func documentJSON() throws(ControlFailure) -> String {
        guard let document = self.value.withLock(\.documents.current) else { throw Self.noDocument }
        return document.shown.text()
    }

    package func setDocument(_ body: [UInt8], isPatch: Bool, isDryRun: Bool) throws(ControlFailure) -> DocumentReply {
        try self.writeDocument(body, isPatch: isPatch, isDryRun: isDryRun, isRequest: true)
    }

    /// - Parameter isRequest: False for the pipeline file itself, which may name any file and any server.
    func writeDocument(
        _ body: [UInt8], isPatch: Bool, isDryRun: Bool, isRequest: Bool
    ) throws(ControlFailure) -> DocumentReply {
        try self.checkOpen()
        return try self.documentTurn.withLock { _ throws(ControlFailure) in
            guard let current = self.value.withLock(\.documents.current) else { throw Self.noDocument }
            var checks = RoomChecks.here(wall: self.clocks.wall)
            if isRequest {
                let grants = self.grants()
                if let tree = current.tree(after: body, isPatch: isPatch) { try Self.check(tree, grants) }
                checks = RoomChecks.forRequests(grants, wall: self.clocks.wall)
            }
            let (next, warnings) = try Self.read(body, isPatch: isPatch, after: current, checks)
            let change = try Self.judge(next, after: current)
            if isRequest { try self.checkServers(of: next.pipeline) }
            var showing: SceneSchedule.Showing?
            if change.isChange, isDryRun {
                try self.tryOut(change, after: current)
            } else if change.isChange {
                showing =
                    try isRequest
                    ? self.apply(change, after: current) : self.applyFile(change, after: current)
                self.value.withLock { $0.documents.current = change.document }
                self.noteDocument(change.document, isRequest ? nil : next, after: current)
                self.events.emit(
                    "room.changed",
                    ["revision": JSONValue(change.document.revision), "applied": Self.list(change.paths)])
            }
            if !isRequest {
                self.value.withLock { $0.documents.written = next.effective }
                if !change.isChange { self.noteDocument(current, next, after: current) }
            }
            return self.answer(change, showing, isDryRun: isDryRun, warnings)
        }
    }

    private static let noDocument = ControlFailure.notFound(
        "this room was not made from a pipeline file", fix: "start it by tandem run FILE")

    // MARK: Judging

    private static func read(
        _ body: [UInt8], isPatch: Bool, after current: RoomDocument, _ checks: SpecChecks
    ) throws(ControlFailure) -> (RoomDocument, [SpecDiagnostic]) {
        let result = isPatch ? current.patched(body, checks: checks) : current.next(body, checks: checks)
        switch result {
        case .success(let read): return (read.document, read.warnings)
        case .failure(let refusal):
            // What is JSON and no object has no path.
            let isMalformed = JSONParser.parse(body).root == nil || refusal.mistakes.contains { $0.path.isEmpty }
            throw .refusedDocument(refusal.mistakes, isMalformed: isMalformed)
        }
    }

    private static func judge(
        _ next: RoomDocument, after current: RoomDocument
    ) throws(ControlFailure) -> DocumentChange {
        do throws(DocumentChange.Refusal) {
            return try DocumentChange(from: current, to: next)
        } catch {
            switch error {
            case .superseded(let revision):
                throw .superseded(
                    "the room's document has revision \(revision) already",
                    fix: "GET /v1/document, look at what has changed, and send a revision above \(revision)")
            case .hidden(let mistakes):
                throw .refused(mistakes) { what, fix, _ in .invalidFormat(what, fix: fix, status: 422) }
            case .needsRestart(let mistakes):
                throw .refused(mistakes) { what, fix, _ in .needsRestart(what, fix: fix) }
            }
        }
    }

    // MARK: Applying

    /// The pipeline file has changed: what it names now is what requests may name, and where they may connect to.
    private func applyFile(_ change: DocumentChange, after current: RoomDocument) throws(ControlFailure)
        -> SceneSchedule
        .Showing?
    {
        let gate = self.settings.egress
        let before = gate.policy
        // Before what it names connects.
        gate.policy = EgressPolicy(change.document.pipeline)
        do throws(ControlFailure) {
            return try self.apply(change, after: current)
        } catch {
            gate.policy = before
            throw error
        }
    }

    /// Refuses what ``apply(_:after:)`` refuses, but for what shows only when a scene is composed.
    private func tryOut(_ change: DocumentChange, after current: RoomDocument) throws(ControlFailure) {
        let after = change.document.pipeline
        try self.checkScenes(from: current.pipeline, to: after)
        _ = try self.rosterChanges.change(from: current.pipeline, to: after, isReal: false)
        _ = try self.admission(from: current.pipeline, to: after)
        _ = try self.outputs.pushes.change(from: current.pipeline, to: after)
        _ = try self.webhooks(from: current.pipeline, to: after)
        _ = try self.rateChanges(from: current.pipeline, to: after)
    }

    /// What comes too early, perhaps for minutes, is refused before files are read and encoders opened to judge the rest.
    private func checkScenes(from before: Pipeline, to after: Pipeline) throws(ControlFailure) {
        _ = try self.sceneChange(from: before, to: after, self.scenes.shown)
    }

    /// - Returns: What comes on air by it; `nil`: nothing that is seen has changed.
    private func apply(_ change: DocumentChange, after current: RoomDocument) throws(ControlFailure) -> SceneSchedule
        .Showing?
    {
        let before = self.pipeline
        var after = change.document.pipeline
        // What a flag of the command line says holds as long as the worker lives.
        after.durationMs = before.durationMs
        try self.checkScenes(from: current.pipeline, to: after)
        let roster = try self.rosterChanges.change(from: current.pipeline, to: after, isReal: true)
        let admission = try self.admission(from: current.pipeline, to: after)
        let pushes = try self.outputs.pushes.change(from: current.pipeline, to: after)
        let webhooks = try self.webhooks(from: current.pipeline, to: after)
        let rates = try self.rateChanges(from: current.pipeline, to: after)
        let showing = try self.scenes.change { schedule throws(ControlFailure) -> SceneSchedule.Showing? in
            let scenes = try self.sceneChange(from: current.pipeline, to: after, schedule)
            // Scenes are composed with what the room runs by, and with those who are there.
            self.value.withLock { $0.documents.running = after }
            self.add(roster)
            do throws(ControlFailure) {
                var changed = schedule
                changed.leave(roster.leaving)
                let showing = try self.show(scenes, &changed)
                schedule = changed
                self.value.withLock { value in
                    for scene in scenes.put { value.scenes.life.replace(scene) }
                    for id in scenes.removed { value.scenes.life.remove(id) }
                    value.scenes.life.setPK(after.pk.map(RoomLife.PK.init))
                }
                // Before another command can tell of a later tick.
                if let showing { self.scenes.announce(showing, reason: "room.changed") }
                self.announce(scenes)
                return showing
            } catch {
                for newcomer in roster.joining { self.removeSource(newcomer.source.spec.id, isReported: false) }
                self.value.withLock { $0.documents.running = before }
                throw error
            }
        }
        self.setSources(from: current.pipeline, to: after)
        self.rosterChanges.admitPublishers(of: roster)
        if let admission, let server = self.ingest {
            server.renew(admission)
            if Self.areKeysOther(current.pipeline, after) { self.events.emit("ingest.keysRenewed", [:]) }
        }
        for id in roster.leaving { self.removeSource(id) }
        self.apply(rates)
        if let pushes { self.outputs.pushes.apply(pushes) }
        if let webhooks { self.delivery?.replace(webhooks) }
        return showing
    }

    /// The words that commands have for each scene.
    private func announce(_ scenes: SceneChange) {
        for scene in scenes.put {
            let revision = scenes.shelf[scene.sceneID]?.revision ?? scene.revision
            self.scenes.announceChange(of: scene.sceneID, revision: revision)
        }
        for id in scenes.removed { self.scenes.announceRemoval(of: id) }
    }

    /// Who may publish from now on; `nil`: as it is. Keys and secrets are read before anything is changed.
    private func admission(from before: Pipeline, to after: Pipeline) throws(ControlFailure) -> PublishAuth? {
        let isSame = Set(before.sources.map(\.id)) == Set(after.sources.map(\.id))
        guard !isSame || Self.areKeysOther(before, after) else { return nil }
        do throws(MediaError) {
            return try PublishAuth(after)
        } catch {
            let path = error.place.hasPrefix("ingest.auth") ? "ingest.auth" : "sources"
            throw .invalidValue(path, error.what, fix: error.fix)
        }
    }

    /// Whether a source that stays has other keys, or the secret that keys are signed with is another one.
    private static func areKeysOther(_ before: Pipeline, _ after: Pipeline) -> Bool {
        before.ingest.auth?.secret != after.ingest.auth?.secret
            || after.sources.contains { source in before.source(source.id).map { $0.input != source.input } ?? false }
    }

    private func setSources(from before: Pipeline, to after: Pipeline) {
        let slots = self.slots
        for new in after.sources {
            guard let old = before.source(new.id), old != new || before.alarms != after.alarms, let slot = slots[new.id]
            else { continue }
            self.noteDocument(of: new.id) { known in
                if old.volume != new.volume { known.volume = nil }
                if old.offsetMs != new.offsetMs { known.offsetMs = nil }
                if old.rotation != new.rotation { known.rotation = nil }
                if old.audioTracks != new.audioTracks { known.trackVolumes = [:] }
            }
            if old.volume != new.volume {
                self.program.setSource(new.id, volume: Float(new.volume) / 100, audioPush: nil, videoPush: nil)
            }
            if old.offsetMs != new.offsetMs { slot.decode.setOffset(milliseconds: new.offsetMs) }
            if old.rotation != new.rotation { slot.decode.setRotation(new.rotation / 90) }
            if old.audioTracks != new.audioTracks {
                let ramp = Int64(after.audio.rampMs) * Int64(after.audio.sampleRate) / 1000
                var gains = Dictionary(old.audioTracks.map { ($0.track, 100) }) { first, _ in first }
                for track in new.audioTracks { gains[track.track] = track.volume }
                for (track, volume) in gains {
                    slot.buffer.setGain(Float(volume) / 100, ofTrack: UInt8(clamping: track), over: max(1, ramp))
                }
            }
            slot.setHealthRules(SourceHealth.Rules(new, after.alarms))
        }
    }

    // MARK: Scenes

    /// What is to be done with the scenes.
    private struct SceneChange {
        var put: [PipelineSpec.Scene] = []
        var removed: [String] = []
        /// A scene that is to come on air.
        var target: String?
        /// What lies on every scene has changed.
        var isRedecorated = false
        /// Users leave whom automatic scenes may show.
        var isThinned = false
        var shelf: SceneStore
    }

    /// Scenes that the new version says no otherwise than the one before stay as commands have made them.
    private func sceneChange(
        from before: Pipeline, to after: Pipeline, _ schedule: SceneSchedule
    ) throws(ControlFailure) -> SceneChange {
        var change = SceneChange(shelf: schedule.shelf)
        change.put = after.scenes.filter { before.scene($0.sceneID) != $0 }
        change.removed = before.scenes.map(\.sceneID).filter { after.scene($0) == nil }
        for id in change.removed { change.shelf.remove(id) }
        for scene in change.put { change.shelf.putNext(scene) }
        try self.checkScenes(of: change.shelf, from: before, to: after)
        try PKCommands(self.scenes).check(from: before, to: after, removing: change.removed)
        guard change.shelf.scenes.count <= SceneStore.limit else {
            throw .limitExceeded(
                "the room would have \(change.shelf.scenes.count) scenes with those of commands",
                fix: "delete some that are not on air")
        }
        if before.program.scene != after.program.scene, after.program.scene != schedule.onAir.sceneID {
            change.target = after.program.scene
        }
        change.isRedecorated =
            before.watermarks != after.watermarks || before.canvas.bgImages != after.canvas.bgImages
            || before.canvas.backgroundColor != after.canvas.backgroundColor
        change.isThinned = before.sources.contains { $0.id.streamType == .main && after.source($0.id) == nil }
        var touched = Set(change.removed + change.put.map(\.sceneID))
        if change.isThinned { touched.formUnion(change.shelf.scenes.filter(\.isAutomatic).map(\.sceneID)) }
        if let waiting = schedule.upcoming.first(where: { change.isRedecorated || touched.contains($0.sceneID) }) {
            throw ControlFailure(
                code: "requestFailed", number: 1417, status: 409,
                what: "the scene \"\(waiting.sceneID)\" waits for its tick, and the new version changes it",
                fix: "send it again when that scene is on air")
        }
        if change.target == nil, change.removed.contains(schedule.onAir.sceneID) {
            throw .refused(
                [
                    SpecDiagnostic(
                        path: "scenes", at: .none, what: "\"\(schedule.onAir.sceneID)\" is on air and not among them",
                        fix: "put another one on air first, or name it in program.scene")
                ]
            ) { what, fix, _ in
                ControlFailure(code: "requestFailed", number: 1417, status: 409, what: what, fix: fix)
            }
        }
        return change
    }

    /// Of the scenes in the file the file's rules have seen it; commands have made others.
    private func checkScenes(of shelf: SceneStore, from before: Pipeline, to after: Pipeline) throws(ControlFailure) {
        let leaving = Set(before.sources.map(\.id)).subtracting(after.sources.map(\.id))
        for scene in shelf.scenes where !leaving.isEmpty {
            guard let source = scene.sources.first(where: { leaving.contains($0) }) else { continue }
            throw ControlFailure(
                code: "requestFailed", number: 1417, status: 409,
                what: "the scene \"\(scene.sceneID)\", as a command has made it, shows \(source), which is to leave",
                fix: "change that scene or delete it first, or write it without \(source) in the new version")
        }
    }

    /// The one step that can fail: what is on air is composed anew.
    private func show(_ change: SceneChange, _ schedule: inout SceneSchedule) throws(ControlFailure) -> SceneSchedule
        .Showing?
    {
        schedule.shelf = change.shelf
        if let target = change.target, let scene = schedule.shelf[target] {
            return try self.scenes.command(scene, nil, &schedule)
        }
        let onAir = schedule.onAir.sceneID
        guard let scene = schedule.shelf[onAir],
            change.isRedecorated || change.put.contains(where: { $0.sceneID == onAir })
                || change.isThinned && scene.isAutomatic
        else { return nil }
        return try self.scenes.replace(scene, &schedule)
    }

    // MARK: Answers

    /// Most paths that are told.
    private static let listed = 64

    private static func list(_ paths: [String]) -> JSONValue {
        .array(paths.prefix(Self.listed).map { .string($0) })
    }

    private func answer(
        _ change: DocumentChange, _ showing: SceneSchedule.Showing?, isDryRun: Bool, _ warnings: [SpecDiagnostic]
    ) -> DocumentReply {
        DocumentReply(
            revision: change.document.revision, changed: change.isChange && !isDryRun, isDryRun: isDryRun,
            applied: Array(change.paths.prefix(Self.listed)), effect: showing.map { self.scenes.effect(at: $0.tick) },
            warnings: warnings.map { "\($0.path): \($0.what)" })
    }
}
