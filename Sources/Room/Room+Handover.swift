package import PublishAuth
import Control
import Ingest
package import MediaTypes
import Packager
import PipelineSpec
import Program
import Push
import RoomSources
import RTMP
import RoomSources

/// What a worker hands on beside the scenes and sources: relays, used keys, grace, alarms and clips.
extension Room {
    // MARK: Relays

    /// - Parameter url: With its key; `nil`: the relay was ended.
    package func noteCommanded(_ source: SourceID, relay id: String, url: String?) {
        self.commands?.update(.now) { state in
            state.relays.removeAll { $0.source == source && $0.id == id }
            // What a later version has said of the relay before is not of this one.
            state.unknown[CommandedState.path(of: CommandedState.Relay(source: source, id: id, url: ""))] = nil
            if let url { state.relays.append(CommandedState.Relay(source: source, id: id, url: url)) }
        }
    }

    /// Starts the relays of commands to earlier workers again, where they are still allowed.
    func resumeRelays() {
        for relay in self.value.withLock({ $0.resumption.state.relays }) {
            guard let reason = self.relaying.resume(relay.id, of: relay.source, url: relay.url) else { continue }
            self.value.withLock { value in
                value.resumption.state.relays.removeAll { $0 == relay }
                value.resumption.refused.append(
                    Resumption.Refusal(member: "sources[\(relay.source)].relays[\(relay.id)]", reason: reason))
            }
            self.noteCommanded(relay.source, relay: relay.id, url: nil)
        }
    }

    // MARK: Keys

    /// Signed keys that were used under workers before this one stay used.
    package func resumed(_ admission: PublishAuth) -> PublishAuth {
        guard let state = self.commands?.value else { return admission }
        var admission = admission
        admission.resume(used: state.usedKeys.map { ($0.digest, $0.expiry) }, salt: state.salt)
        return admission
    }

    /// On the ingest's event loop.
    package func noteUse(_ use: PublishAuth.KeyUse) {
        let now = self.clocks.wall.now() / TimeMath.nanoseconds
        self.commands?.update(.now) { state in
            state.usedKeys.removeAll { $0.digest == use.digest || $0.expiry < now }
            if let expiry = use.expiry {
                state.usedKeys.append(CommandedState.UsedKey(digest: use.digest, expiry: expiry))
            }
        }
    }

    // MARK: Sources that are waited for

    func noteCommanded(_ source: SourceID, _ change: SourceLife.Change, graceUntil end: Int64?) {
        guard let commands = self.commands else { return }
        let end = end.map { self.roomTime(ofLife: $0) }
        switch change.to {
        // In the past: nobody waits for it any more.
        case .gone: commands.update(.soon) { $0.change(source) { $0.graceUntil = 0 } }
        case .reconnecting: commands.update(.soon) { $0.change(source) { $0.graceUntil = end } }
        case .live: commands.update(.soon) { $0.change(source) { $0.graceUntil = nil } }
        case .idle, .connected, .publishing, .stalled, .lost, .ended: break
        }
    }

    /// Sources that were lost under a worker before this one are waited for as long as that worker would have.
    func resumeGraces() {
        let now = self.machine.now()
        for (id, known) in self.value.withLock({ $0.resumption.state.sources }) {
            guard let until = known.graceUntil, self.slots[id]?.isFile == false else { continue }
            let end = until > 0 ? self.lifeTime(ofRoom: until) : nil
            self.value.withLock { $0.scenes.life.resumeLost(id, until: end, now: now) }
            self.slots[id]?.setState(end == nil ? .gone : .reconnecting)
        }
    }

    /// Since when nobody has been there, on the life's clock.
    var resumedIdle: Int64? {
        self.value.withLock { $0.resumption.state.idleSince }.map { min(self.machine.now(), self.lifeTime(ofRoom: $0)) }
    }

    // MARK: Alarms

    /// How long an alarm of a worker before this one holds before it must have been found again, in nanoseconds.
    private static let alarmHold: Int64 = 30 * TimeMath.nanoseconds

    func resumeAlarms() {
        let alarms = self.value.withLock { $0.resumption.state.alarms }
        let end = self.clocks.wall.now() &+ Self.alarmHold
        self.value.withLock { $0.alarms.resume(alarms.map { ($0.id, $0.alarm, $0.setAt) }, until: end) }
    }

    /// The alarms that hold have changed.
    func noteAnnounced() {
        guard let commands = self.commands else { return }
        let alarms = self.value.withLock(\.alarms.entries).filter { $0.clearedAt == nil }.map {
            CommandedState.Alarm(id: self.id(of: $0), alarm: $0.alarm, setAt: $0.setAt)
        }
        commands.update(.soon) { $0.alarms = alarms }
    }

    /// Commands that are not on disk, and those of the worker before that were set aside.
    var commandAlarms: [AlarmBook.Alarm] {
        var alarms: [AlarmBook.Alarm] = []
        if let problem = self.commands?.problem {
            alarms.append(
                AlarmBook.Alarm(
                    "commands.not_durable", "alert_2", kind: "output",
                    message: "a successor would not restore the last commands: \(problem)"))
        }
        let (isSetAside, isReduced) = self.value.withLock { ($0.resumption.isSetAside, $0.resumption.isReduced) }
        if isSetAside {
            let reason = isReduced ? "two workers have died within 30 s of restoring it" : "it cannot be used"
            alarms.append(
                AlarmBook.Alarm(
                    "commands.set_aside", "alert_2", kind: "config",
                    message: "commands.json was set aside: \(reason); see room.resumed for what is not restored"))
        }
        return alarms
    }

    // MARK: Clips

    /// Clips that a worker before this one has promised have failed.
    func resumeClips() {
        for lost in self.value.withLock({ $0.resumption.state.clips }) {
            self.outputs.clips.noteLost(lost.id, name: lost.name, rendition: lost.rendition, range: lost.range)
        }
        self.commands?.update(.soon) { $0.clips = [] }
    }
}
