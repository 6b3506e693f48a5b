import PublishAuth
import Control
import Ingest
import MediaTypes
import Packager
import PipelineSpec
import Program
import Push
import RoomSources
import RTMP
import RoomSources

/// Hands over relays, used keys, graces, alarms and clips to the next worker.
extension Room {
    // MARK: Relays

    /// Restarts relays that commands to earlier workers started, if they are still allowed.
    func resumeRelays() {
        for relay in self.value.withLock({ $0.resumption.state.relays }) {
            guard let reason = self.relaying.resume(relay.id, of: relay.source, url: relay.url) else { continue }
            self.value.withLock { value in
                value.resumption.state.relays.removeAll { $0 == relay }
                value.resumption.refused.append(
                    Resumption.Refusal(member: "sources[\(relay.source)].relays[\(relay.id)]", reason: reason))
            }
            self.saved.saveRelay(relay.id, of: relay.source, url: nil)
        }
    }

    // MARK: Lost sources

    /// Restores the graces of sources that were lost under an earlier worker.
    func resumeGraces() {
        let now = self.machine.now()
        for (id, known) in self.value.withLock({ $0.resumption.state.sources }) {
            guard let until = known.graceUntil, self.slots[id]?.isFile == false else { continue }
            let end = until > 0 ? self.saved.times.machine(ofRoom: until) : nil
            self.value.withLock { $0.scenes.life.resumeLost(id, until: end, now: now) }
            self.slots[id]?.setState(end == nil ? .gone : .reconnecting)
        }
    }

    /// Since when the room has had no publisher, on the life's clock.
    var resumedIdle: Int64? {
        self.value.withLock { $0.resumption.state.idleSince }.map { min(self.machine.now(), self.saved.times.machine(ofRoom: $0)) }
    }

    // MARK: Alarms

    /// How long an alarm of an earlier worker stays active without being found again, in nanoseconds.
    private static let alarmHold: Int64 = 30 * TimeMath.nanoseconds

    func resumeAlarms() {
        let alarms = self.value.withLock { $0.resumption.state.alarms }
        let end = self.clocks.wall.now() &+ Self.alarmHold
        self.value.withLock { $0.alarms.resume(alarms.map { ($0.id, $0.alarm, $0.setAt) }, until: end) }
    }

    /// Saves the active alarms after a change.
    func noteAnnounced() {
        let alarms = self.value.withLock(\.alarms.entries).filter { $0.clearedAt == nil }.map {
            CommandedState.Alarm(id: self.id(of: $0), alarm: $0.alarm, setAt: $0.setAt)
        }
        self.saved.record(alarms)
    }

    /// Alarms for commands that are not on disk, and for a state of the previous worker that was set aside.
    var commandAlarms: [AlarmBook.Alarm] {
        var alarms: [AlarmBook.Alarm] = []
        if let problem = self.saved.store?.problem {
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

    /// Reports clips as failed that an earlier worker had promised.
    func resumeClips() {
        for lost in self.value.withLock({ $0.resumption.state.clips }) {
            self.outputs.clips.noteLost(lost.id, name: lost.name, rendition: lost.rendition, range: lost.range)
        }
        self.saved.store?.update(.soon) { $0.clips = [] }
    }
}
