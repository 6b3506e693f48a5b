package import Events
import MediaTypes

/// The alarms of the room: those that are active, and those that were cleared lately. Pure; times are the wall clock's,
/// in nanoseconds since the Unix epoch.
package struct ActiveAlarms: Sendable {
    package typealias Alarm = RoomAlarm

    package struct Entry: Sendable, Hashable {
        /// Counted from 1, in the order in which alarms were set; unique within this value.
        package var number: Int64
        package var alarm: Alarm
        package var setAt: Int64
        /// `nil`: the alarm is active.
        package var clearedAt: Int64?
        /// Its id if an earlier worker has set it.
        package var earlierID: String?
        /// Until then the alarm stays active although this worker has not found it: the worker has only just begun to
        /// check.
        package var heldUntil: Int64?
    }

    /// A change that an update has made.
    package enum Change: Sendable, Hashable {
        /// The alarm is active from now on, or has another severity than before.
        case set(Entry)
        case cleared(Entry)
    }

    /// How long a cleared alarm stays listed, in nanoseconds.
    package static let keep: Int64 = 300 * TimeMath.nanoseconds
    /// Most alarms that are listed; beyond that the oldest cleared ones are removed.
    package static let capacity = 256

    /// The oldest first.
    package private(set) var entries: [Entry] = []
    private var last: Int64 = 0

    package init() {}

    /// Restores alarms that an earlier worker has announced: they are not announced again, and are cleared under their
    /// old ids.
    ///
    /// - end: Alarms that are not found until then are cleared.
    package mutating func resume(_ alarms: [(id: String, alarm: Alarm, setAt: Int64)], until end: Int64) {
        for (id, alarm, setAt) in alarms.prefix(Self.capacity) {
            self.last += 1
            self.entries.append(
                Entry(number: self.last, alarm: alarm, setAt: setAt, earlierID: id, heldUntil: end))
        }
    }

    /// - Parameters:
    ///   - current: All conditions that are wrong now.
    ///   - isLast: Whether restored alarms that were not found are cleared at once.
    /// - Returns: Cleared alarms, then new ones and those with another severity, each in the order of the list.
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
