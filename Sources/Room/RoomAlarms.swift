import Control
import Events
import HLS
import MediaTypes
import PipelineSpec
import RoomAPI
import RoomOutputs
import Threading

/// The alarms of a room: announces those that begin and end, saves them for the next worker, and lists them.
struct RoomAlarms {
    let list: RoomPart<ActiveAlarms>
    /// The worker's number: an alarm's id is unique among all workers of the room.
    let incarnation: Int64
    let wall: any WallClock
    let events: RoomEvents
    let saved: CommandRecorder

    /// How long an alarm of an earlier worker stays active without being found again, in nanoseconds.
    private static let hold: Int64 = 30 * TimeMath.nanoseconds

    /// Restores alarms that an earlier worker has announced.
    func restore(_ alarms: [CommandedState.Alarm]) {
        let end = self.wall.now() &+ Self.hold
        self.list.withLock { $0.resume(alarms.map { ($0.id, $0.alarm, $0.setAt) }, until: end) }
    }

    /// Records everything that is wrong now.
    ///
    /// - Parameter isLast: Whether this worker ends: then restored alarms that were not found are cleared at once.
    func update(_ current: [RoomAlarm], isLast: Bool = false) {
        let now = self.wall.now()
        let changes = self.list.withLock { $0.update(current, at: now, isLast: isLast) }
        for change in changes { self.announce(change) }
        guard !changes.isEmpty || isLast else { return }
        let active = self.entries(.set).map {
            CommandedState.Alarm(id: self.id(of: $0), alarm: $0.alarm, setAt: $0.setAt)
        }
        self.saved.record(active)
    }

    /// Emits `alarm.set` or `alarm.cleared`. Its `level` applies from now on: `normal` for a cleared alarm. Its `alarm` is
    /// the alarm as replies show it, with the severity that it had.
    private func announce(_ change: ActiveAlarms.Change) {
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
                "alarm": self.reply(entry).json,
            ])
    }

    private func entries(_ state: AlarmState) -> [ActiveAlarms.Entry] {
        self.list.withLock(\.entries).filter { entry in
            switch state {
            case .all: true
            case .set: entry.clearedAt == nil
            case .cleared: entry.clearedAt != nil
            }
        }
    }

    private func id(of entry: ActiveAlarms.Entry) -> String { entry.earlierID ?? "\(self.incarnation)-\(entry.number)" }

    /// The alarms of a state as replies show them.
    func replies(_ state: AlarmState = .all) -> [AlarmReply] { self.entries(state).map { self.reply($0) } }

    private func reply(_ entry: ActiveAlarms.Entry) -> AlarmReply {
        AlarmReply(
            id: self.id(of: entry), alarm: entry.alarm, setAt: ProgramDate.format(entry.setAt),
            clearedAt: entry.clearedAt.map { ProgramDate.format($0) })
    }

    /// Adds the active alarms and the alarm level of every output, as of the last update.
    func addMetrics(_ metrics: inout MetricsText, of outputs: [Output]) {
        let active = self.entries(.set).map(\.alarm)
        metrics.addAlarms(active)
        let set = active.filter { $0.kind == "output" }
        metrics.family("tandem_output_alarm_level", .gauge, "0: normal, 1 to 3: alert_1 to alert_3.")
        for output in outputs {
            let onDisk: Bool
            switch output {
            case .hls, .transport, .record: onDisk = true
            case .raw, .rtmp, .http, .s3, .image: onDisk = false
            }
            // An alarm of the disk applies to all outputs on it.
            let levels = set.filter { $0.subject == output.outputID || onDisk && $0.subject == nil }
                .map { OutputAlarm.level($0.severity) }
            metrics.sample("tandem_output_alarm_level", ["output": output.outputID], levels.max() ?? 0)
        }
    }
}
