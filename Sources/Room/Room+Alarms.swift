import Control
import HLS
import MediaTypes
import PipelineSpec
import RoomOutputs
import RoomSources

/// Alarms: what is wrong with the room now, and what was lately.
extension Room {
    /// Checks the alarms, on the life's thread.
    func noteAlarms() {
        var alarms: [AlarmBook.Alarm] = []
        for source in self.pipeline.sources {
            guard let slot = self.slots[source.id], !slot.isFile else { continue }
            for finding in slot.healthFindings {
                let type = finding.cause.alarmType
                // The worker's own, whichever source shows it.
                if finding.cause == .workerLag {
                    if !alarms.contains(where: { $0.type == type }) {
                        alarms.append(
                            AlarmBook.Alarm(type, finding.level.name, kind: "encoder", message: finding.message))
                    }
                    continue
                }
                alarms.append(
                    AlarmBook.Alarm(
                        type, finding.level.name, kind: "source", subject: source.id.description,
                        message: "\(slot.spec.name ?? source.id.description): \(finding.message)"))
            }
        }
        if let alarm = self.overload.alarm {
            // One alarm says it: that the program is behind its clock is the same.
            alarms.removeAll { $0.type == SourceHealth.Cause.workerLag.alarmType }
            alarms.append(alarm)
        }
        let outputs = self.outputs.alarms()
        alarms += outputs.onDisk + outputs.elsewhere
        self.notePhase { $0.isOutputLost = !outputs.elsewhere.isEmpty }
        if let alarm = self.value.withLock({ $0.configurationAlarm }) { alarms.append(alarm) }
        alarms += self.certificateAlarms
        alarms += self.commandAlarms
        let changes = self.value.withLock { $0.alarms.update(alarms, at: self.clocks.wall.now()) }
        for change in changes { self.tell(change) }
        if !changes.isEmpty { self.noteAnnounced() }
    }

    /// How long an alarm of an earlier worker stays active without being found again, in nanoseconds.
    private static let alarmHold: Int64 = 30 * TimeMath.nanoseconds

    func resumeAlarms() {
        let end = self.clocks.wall.now() &+ Self.alarmHold
        self.value.withLock { value in
            value.alarms.resume(value.resumption.state.alarms.map { ($0.id, $0.alarm, $0.setAt) }, until: end)
        }
    }

    /// Saves the active alarms after a change.
    private func noteAnnounced() {
        let alarms = self.value.withLock(\.alarms.entries).filter { $0.clearedAt == nil }.map {
            CommandedState.Alarm(id: self.id(of: $0), alarm: $0.alarm, setAt: $0.setAt)
        }
        self.saved.record(alarms)
    }

    /// Alarms for commands that are not on disk, and for a state of the previous worker that was set aside.
    private var commandAlarms: [AlarmBook.Alarm] {
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

    /// What this worker has called wrong is over with it: an alarm's id is of its worker, so no other could tell.
    func endAlarms() {
        let changes = self.value.withLock { $0.alarms.update([], at: self.clocks.wall.now(), isLast: true) }
        for change in changes { self.tell(change) }
        self.noteAnnounced()
    }

    /// The level is what it is from now on; the alarm itself is as the state has it.
    private func tell(_ change: AlarmBook.Change) {
        let (type, entry, level) =
            switch change {
            case .set(let entry): ("alarm.set", entry, entry.alarm.severity)
            case .cleared(let entry): ("alarm.cleared", entry, "normal")
            }
        self.events.emit(
            type,
            [
                "id": .string(self.id(of: entry)), "level": .string(level), "reason": .string(entry.alarm.message),
                "uid": entry.alarm.kind == "source" ? JSONValue(entry.alarm.subject) : .null,
                "alarm": self.json(of: entry),
            ])
    }

    /// The alarms that replies show: those of a state, or all.
    func alarms(_ state: AlarmState = .all) -> JSONValue {
        let entries = self.value.withLock(\.alarms.entries).filter { entry in
            switch state {
            case .all: true
            case .set: entry.clearedAt == nil
            case .cleared: entry.clearedAt != nil
            }
        }
        return .array(entries.map { self.json(of: $0) })
    }

    /// No other alarm of the room has it, not under another worker either.
    func id(of entry: AlarmBook.Entry) -> String { entry.earlierID ?? "\(self.incarnation)-\(entry.number)" }

    private func json(of entry: AlarmBook.Entry) -> JSONValue {
        [
            "id": .string(self.id(of: entry)), "type": .string(entry.alarm.type),
            "severity": .string(entry.alarm.severity), "state": .string(entry.clearedAt == nil ? "set" : "cleared"),
            "scope": ["kind": .string(entry.alarm.kind), "id": JSONValue(entry.alarm.subject)],
            "message": .string(entry.alarm.message), "setAt": .string(ProgramDate.format(entry.setAt)),
            "clearedAt": JSONValue(entry.clearedAt.map { ProgramDate.format($0) }),
        ]
    }
}
