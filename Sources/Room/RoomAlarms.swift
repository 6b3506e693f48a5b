import Control
import Events
import HLS
import MediaTypes
import PipelineSpec
import RoomAPI
import RoomOutputs
import Threading

/// The alarms of a room: announces alarms that are set or cleared, saves the active ones for the next worker, and lists
/// them.
struct RoomAlarms {
    let list: RoomPart<ActiveAlarms>
    /// Number of this worker among the workers of the room. It is part of the alarms' ids, which makes them unique in
    /// the room.
    let incarnation: Int64
    let wall: any WallClock
    let events: RoomEvents
    let saved: CommandRecorder

    /// How long a restored alarm stays active although its condition was not found again, in nanoseconds.
    private static let hold: Int64 = 30 * TimeMath.nanoseconds

    /// Restores the alarms that an earlier worker has announced.
    func restore(_ alarms: [CommandedState.Alarm]) {
        let end = self.wall.now() &+ Self.hold
        self.list.withLock { $0.resume(alarms.map { ($0.id, $0.alarm, $0.setAt) }, until: end) }
    }

    /// Compares the conditions that hold now with the active alarms, and announces the changes.
    ///
    /// - Parameter isLast: Whether this worker is about to end. Restored alarms that were not found are then cleared at
    ///   once.
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

    /// Emits the event for a change. `level` is the level from now on; `alarm` describes the alarm as the API shows it.
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

    /// The alarms in a state, as the API shows them.
    func replies(_ state: AlarmState = .all) -> [AlarmReply] { self.entries(state).map { self.reply($0) } }

    private func reply(_ entry: ActiveAlarms.Entry) -> AlarmReply {
        AlarmReply(
            id: self.id(of: entry), alarm: entry.alarm, setAt: ProgramDate.format(entry.setAt),
            clearedAt: entry.clearedAt.map { ProgramDate.format($0) })
    }

    /// Adds metrics of the active alarms, and the alarm level of every output, as of the last update.
    func addMetrics(_ metrics: inout MetricsText, of outputs: [Output]) {
        let active = self.entries(.set).map(\.alarm)
        metrics.addAlarms(active)
        let set = active.filter { $0.kind == "output" }
        metrics.family("tandem_output_alarm_level", .gauge, "0: normal, 1 to 3: alert_1 to alert_3.")
        for output in outputs {
            let onDisk: Bool
            switch output {
            case .hls, .transport, .record: onDisk = true
            case .raw, .rtmp, .webRTC, .http, .s3, .image: onDisk = false
            }
            // An alarm of the disk without an output's name applies to all outputs on the disk.
            let levels = set.filter { $0.subject == output.outputID || onDisk && $0.subject == nil }
                .map { OutputAlarm.level($0.severity) }
            metrics.sample("tandem_output_alarm_level", ["output": output.outputID], levels.max() ?? 0)
        }
    }
}
