import PublishAuth
import Control
import Events
import MediaTypes
import PipelineSpec
import Program
import RoomAPI
import RoomOutputs
import RoomScenes
import RoomSources

/// Applies a new version of the room's document to the running room, or refuses it with the reason.
struct DocumentApplication {
    private let room: Room
    /// The version of the document that the room runs.
    private let before: Pipeline
    /// The new version of the document.
    private let after: Pipeline

    init(_ room: Room, from before: Pipeline, to after: Pipeline) {
        var after = after
        // The duration from the command line applies as long as the worker runs.
        after.durationMs = room.pipeline.durationMs
        (self.room, self.before, self.after) = (room, before, after)
    }

    /// The changes, except those of scenes, that can fail. They are prepared: files are read and encoders checked.
    private struct Parts {
        var roster: RosterChanges.Change
        var admission: Admission?
        var pushes: PushService.Change?
        var webhooks: [Webhook]?
        var rates: BitRateChanges
    }

    /// Checks the new version and prepares its changes.
    ///
    /// - Parameter isReal: True if the version is going to be applied. Then a source that was removed earlier must have
    ///   left before a new source can take its id.
    private func prepare(isReal: Bool) throws(ControlFailure) -> Parts {
        // A conflict with a scheduled scene, which may last for minutes, is reported before files are read for the
        // rest.
        _ = try self.sceneChange(self.room.scenes.shown)
        if isReal { try self.checkRecordings() }
        return Parts(
            roster: try self.room.rosterChanges.change(from: self.before, to: self.after, isReal: isReal),
            admission: try self.admission(),
            pushes: try self.room.outputs.pushes.change(from: self.before, to: self.after),
            webhooks: try self.webhooks(),
            rates: try BitRateChanges(from: self.before, to: self.after, self.room.ladder))
    }

    /// Checks the new version without applying it. Detects everything that ``apply()`` refuses, except errors that
    /// occur when a scene is composed, a removed source that has not left yet and whose id a new source takes, and
    /// directories of recordings that cannot be created or are linked into a directory of encrypted segments.
    func tryOut() throws(ControlFailure) { _ = try self.prepare(isReal: false) }

    /// Applies the new version.
    ///
    /// - Returns: The scene that is put on air or composed again, with its first tick; nil if the change requires neither.
    func apply() throws(ControlFailure) -> SceneSchedule.Showing? {
        let room = self.room
        let running = room.pipeline
        let parts = try self.prepare(isReal: true)
        let showing = try room.scenes.change { schedule throws(ControlFailure) -> SceneSchedule.Showing? in
            let scenes = try self.sceneChange(schedule)
            // Scenes are composed from the running document and the current sources, so both are updated first.
            room.value.withLock { $0.api.documents.running = self.after }
            room.add(parts.roster)
            do throws(ControlFailure) {
                var changed = schedule
                changed.leave(parts.roster.leaving)
                let showing = try self.show(scenes, &changed)
                schedule = changed
                room.value.withLock { value in
                    for scene in scenes.put { value.scenes.life.replace(scene) }
                    for id in scenes.removed { value.scenes.life.remove(id) }
                    value.scenes.life.setPK(self.after.pk.map(SceneSelector.PK.init))
                }
                // Announced before another command can announce a later tick.
                if let showing { room.scenes.announce(showing, reason: "room.changed") }
                self.announce(scenes)
                return showing
            } catch {
                for newcomer in parts.roster.joining {
                    room.removeSource(newcomer.source.spec.id, isReported: false)
                }
                room.value.withLock { $0.api.documents.running = running }
                throw error
            }
        }
        self.setSources()
        if self.areRecordingsElsewhere { room.outputs.disk.follow(self.after) }
        room.rosterChanges.begin(parts.roster)
        if let admission = parts.admission, let server = room.ingest {
            server.renew(admission)
            if self.areKeysOther { room.events.emit("ingest.keysRenewed", [:]) }
        }
        for id in parts.roster.leaving { room.removeSource(id) }
        parts.rates.apply(to: room.packager, room.ladder) { track, rates in
            room.passthrough?.setRates(rates, track: track)
            room.live?.setBitrate(Int(clamping: rates.bitrate), track: track)
        }
        if self.before.audio != self.after.audio {
            room.program.setSpeaking(self.after.audio.speaking, duck: self.after.audio.duckSettings)
        }
        if let captions = self.after.captions { room.captions?.choose(captions.choice) }
        if let pushes = parts.pushes { room.outputs.pushes.apply(pushes) }
        if let webhooks = parts.webhooks { room.delivery?.replace(webhooks) }
        return showing
    }

    /// Webhooks of the new version with their secrets; nil if they do not change.
    private func webhooks() throws(ControlFailure) -> [Webhook]? {
        guard self.before.control.events != self.after.control.events else { return nil }
        do throws(MediaError) {
            return try self.after.webhooks()
        } catch {
            throw .invalidValue(error.place, error.what, fix: error.fix)
        }
    }

    /// Emits the events for changed and removed scenes, as the commands for scenes do.
    private func announce(_ scenes: SceneChange) {
        for scene in scenes.put {
            let revision = scenes.sceneStore[scene.sceneID]?.revision ?? scene.revision
            self.room.scenes.announceChange(of: scene.sceneID, revision: revision)
        }
        for id in scenes.removed { self.room.scenes.announceRemoval(of: id) }
    }

    /// The publishers that may be admitted from now on; nil if that does not change. Keys and secrets are read before
    /// anything is changed.
    private func admission() throws(ControlFailure) -> Admission? {
        let isSame = Set(self.before.sources.map(\.id)) == Set(self.after.sources.map(\.id))
        guard !isSame || self.areKeysOther else { return nil }
        do throws(MediaError) {
            return try Admission(self.after)
        } catch {
            let path = error.place.hasPrefix("ingest.auth") ? "ingest.auth" : "sources"
            throw .invalidValue(path, error.what, fix: error.fix)
        }
    }

    /// Whether sources are recorded in other directories than before.
    private var areRecordingsElsewhere: Bool {
        Set(self.before.sources.map(\.record?.directory)) != Set(self.after.sources.map(\.record?.directory))
    }

    /// Checks the directories of recordings in a room with encryption; see ``Pipeline/checkClearDirectories()``.
    private func checkRecordings() throws(ControlFailure) {
        guard self.areRecordingsElsewhere else { return }
        do throws(MediaError) {
            try self.after.checkClearDirectories()
        } catch {
            throw .invalidValue(error.place, error.what, fix: error.fix)
        }
    }

    /// Whether the input of a remaining source, such as its stream keys, or the secret of signed keys has changed.
    private var areKeysOther: Bool {
        self.before.ingest.auth?.secret != self.after.ingest.auth?.secret
            || self.after.sources.contains { source in
                self.before.source(source.id).map { $0.input != source.input } ?? false
            }
    }

    private func setSources() {
        let (before, after, roomSources) = (self.before, self.after, self.room.roomSources)
        if before.program.delayMs != after.program.delayMs {
            for source in roomSources.values { source.set(delay: after.program.delayMs) }
        }
        for new in after.sources {
            guard let old = before.source(new.id), old != new || before.alarms != after.alarms,
                let source = roomSources[new.id]
            else { continue }
            self.room.saved.recordDocument(of: new.id) { known in
                if old.volume != new.volume { known.volume = nil }
                if old.offsetMs != new.offsetMs { known.offsetMs = nil }
                if old.rotation != new.rotation { known.rotation = nil }
                if old.audioTracks != new.audioTracks { known.trackVolumes = [:] }
                if old.record != new.record { known.recording = nil }
            }
            if old.volume != new.volume {
                self.room.program.setSource(new.id, volume: Float(new.volume) / 100, audioPush: nil, videoPush: nil)
            }
            if old.background != new.background || old.fadeMs != new.fadeMs {
                self.room.program.setBackground(new.id, new.background, fadeMs: new.fadeMs)
            }
            source.set(
                offset: old.offsetMs == new.offsetMs ? nil : new.offsetMs,
                rotation: old.rotation == new.rotation ? nil : new.rotation)
            if old.audio != new.audio { source.set(audio: new.audio) }
            if old.audioTracks != new.audioTracks {
                var gains = Dictionary(old.audioTracks.map { ($0.track, 100) }) { first, _ in first }
                for track in new.audioTracks { gains[track.track] = track.volume }
                for (track, volume) in gains { source.setVolume(volume, ofTrack: track, over: after.audio.rampSamples) }
            }
            self.room.sourceRecording.change(of: new.id, from: old.record, to: new.record)
            source.setHealthRules(SourceHealth.Rules(new, after.alarms))
        }
    }

    // MARK: Scenes

    /// All changes that the new version of the document makes to the room's scenes.
    private struct SceneChange {
        var put: [PipelineSpec.Scene] = []
        var removed: [String] = []
        /// The scene to put on air; nil if `program.scene` is unchanged, or names the scene that is on air.
        var target: String?
        /// Whether watermarks or the background, which appear in every scene, have changed.
        var isRedecorated = false
        /// Whether a main source is removed that automatic scenes may show.
        var isThinned = false
        var sceneStore: SceneStore
    }

    /// Determines the changes of scenes. A scene that both versions contain unchanged keeps the changes of commands.
    private func sceneChange(_ schedule: SceneSchedule) throws(ControlFailure) -> SceneChange {
        let (before, after) = (self.before, self.after)
        var change = SceneChange(sceneStore: schedule.sceneStore)
        change.put = after.scenes.filter { before.scene($0.sceneID) != $0 }
        change.removed = before.scenes.map(\.sceneID).filter { after.scene($0) == nil }
        for id in change.removed { change.sceneStore.remove(id) }
        for scene in change.put { change.sceneStore.putNext(scene) }
        try self.checkScenes(of: change.sceneStore)
        try self.room.sceneCommands.checkPK(from: before, to: after, removing: change.removed)
        guard change.sceneStore.scenes.count <= SceneStore.limit else {
            throw .limitExceeded(
                "the room would have \(change.sceneStore.scenes.count) scenes with those that commands added, more than the "
                    + "limit of \(SceneStore.limit)",
                fix: "delete scenes that are not on air")
        }
        if before.program.scene != after.program.scene, after.program.scene != schedule.onAir.sceneID {
            change.target = after.program.scene
        }
        change.isRedecorated =
            before.watermarks != after.watermarks || before.canvas.bgImages != after.canvas.bgImages
            || before.canvas.backgroundColor != after.canvas.backgroundColor
        change.isThinned = before.sources.contains { $0.id.streamType == .main && after.source($0.id) == nil }
        var touched = Set(change.removed + change.put.map(\.sceneID))
        if change.isThinned { touched.formUnion(change.sceneStore.scenes.filter(\.isAutomatic).map(\.sceneID)) }
        if let waiting = schedule.upcoming.first(where: { change.isRedecorated || touched.contains($0.sceneID) }) {
            throw .conflict(
                "the scene \"\(waiting.sceneID)\" is scheduled for a later tick, and the new version changes "
                    + "or removes it",
                fix: "send the new version again when that scene is on air")
        }
        if change.target == nil, change.removed.contains(schedule.onAir.sceneID) {
            throw .refused(
                [
                    SpecDiagnostic(
                        path: "scenes", at: .none,
                        what: "\"\(schedule.onAir.sceneID)\" is on air and missing from the new version",
                        fix: "put another scene on air first, or name one in program.scene")
                ]
            ) { what, fix, _ in .conflict(what, fix: fix) }
        }
        return change
    }

    /// Checks that no scene, as commands have set it, shows a source that the new version removes.
    private func checkScenes(of sceneStore: SceneStore) throws(ControlFailure) {
        let leaving = Set(self.before.sources.map(\.id)).subtracting(self.after.sources.map(\.id))
        for scene in sceneStore.scenes where !leaving.isEmpty {
            guard let source = scene.sources.first(where: { leaving.contains($0) }) else { continue }
            throw .conflict(
                "the scene \"\(scene.sceneID)\", as a command has set it, shows \(source), which would be removed",
                fix: "change or delete that scene first, or include it without \(source) in the new version")
        }
    }

    /// Puts another scene on air, or composes the one on air again, if the change requires it; nil if it requires neither.
    private func show(_ change: SceneChange, _ schedule: inout SceneSchedule) throws(ControlFailure) -> SceneSchedule
        .Showing?
    {
        schedule.sceneStore = change.sceneStore
        if let target = change.target, let scene = schedule.sceneStore[target] {
            return try self.room.scenes.command(scene, nil, &schedule)
        }
        let onAir = schedule.onAir.sceneID
        guard let scene = schedule.sceneStore[onAir],
            change.isRedecorated || change.put.contains(where: { $0.sceneID == onAir })
                || change.isThinned && scene.isAutomatic
        else { return nil }
        return try self.room.scenes.replace(scene, &schedule)
    }
}
