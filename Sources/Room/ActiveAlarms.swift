package import Events
import MediaTypes

/// The room's active alarms and those cleared within the last five minutes. A pure value; times are wall clock times in
/// nanoseconds since the Unix epoch.
package struct ActiveAlarms: Sendable {
    package typealias Alarm = RoomAlarm

    package struct Entry: Sendable, Hashable {
        /// Number of the alarm, from 1 in the order in which alarms were set; unique within one ``ActiveAlarms``.
        package var number: Int64
        package var alarm: Alarm
        package var setAt: Int64
        /// When the alarm was cleared; nil while the alarm is active.
        package var clearedAt: Int64?
        /// The alarm's id if an earlier worker of the room has set it; otherwise nil.
        package var earlierID: String?
        /// A restored alarm stays active until this time even if this worker has not found its condition yet, because
        /// the worker has only just begun to check; it is cleared earlier if the worker ends. nil if the alarm is not
        /// restored or was found again.
        package var heldUntil: Int64?
    }

    /// A change of one alarm, returned by ``update(_:at:isLast:)``.
    package enum Change: Sendable, Hashable {
        /// The alarm has become active, or its severity has changed.
        case set(Entry)
        case cleared(Entry)
    }

    /// How long a cleared alarm stays listed, in nanoseconds.
    package static let keep: Int64 = 300 * TimeMath.nanoseconds
    /// Limit of listed alarms. Beyond it the oldest cleared alarms are removed; active alarms are never removed.
    package static let capacity = 256

    /// The listed alarms, in the order in which they were set.
    package private(set) var entries: [Entry] = []
    private var last: Int64 = 0

    package init() {}

    /// Restores the active alarms of an earlier worker, which has announced them. They keep their ids.
    ///
    /// - Parameter end: Restored alarms whose condition is not found before this time are cleared.
    package mutating func resume(_ alarms: [(id: String, alarm: Alarm, setAt: Int64)], until end: Int64) {
        for (id, alarm, setAt) in alarms.prefix(Self.capacity) {
            self.last += 1
            self.entries.append(
                Entry(number: self.last, alarm: alarm, setAt: setAt, earlierID: id, heldUntil: end))
        }
    }

    /// Compares the current alarms with the active ones, and sets and clears alarms accordingly.
    ///
    /// - Parameters:
    ///   - current: The alarms of all conditions that hold now.
    ///   - isLast: If true, then restored alarms whose condition was not found are cleared at once.
    /// - Returns: The cleared alarms, then those whose severity has changed, then the new ones.
    @discardableResult
    package mutating func update(_ current: [Alarm], at now: Int64, isLast: Bool = false) -> [Change] {
        var (over, new): ([Change], [Change]) = ([], [])
        func same(_ one: Alarm, _ other: Alarm) -> Bool { one.type == other.type && one.subject == other.subject }
        for index in self.entries.indices where self.entries[index].clearedAt == nil {
            if let alarm = current.first(where: { same($0, self.entries[index].alarm) }) {
                let isOther = self.entries[index].alarm.severity != alarm.severity
                self.entries[index].alarm = alarm
                self.entries[index].heldUntil = nil
                if isOther { new.append(.set(self.entries[index])) }
            } else if isLast || self.entries[index].heldUntil.map({ now >= $0 }) ?? true {
                self.entries[index].clearedAt = now
                over.append(.cleared(self.entries[index]))
            }
        }
        for alarm in current where !self.entries.contains(where: { $0.clearedAt == nil && same($0.alarm, alarm) }) {
            self.last += 1
            let entry = Entry(number: self.last, alarm: alarm, setAt: now)
            self.entries.append(entry)
            new.append(.set(entry))
        }
        self.entries.removeAll { $0.clearedAt.map { now &- $0 > Self.keep } ?? false }
        while self.entries.count > Self.capacity, let old = self.entries.firstIndex(where: { $0.clearedAt != nil }) {
            self.entries.remove(at: old)
        }
        return over + new
    }
}
