package import Control
import MediaTypes

/// What is wrong with the room now, and what was lately. Pure; times are the wall clock's, in nanoseconds since the Unix epoch.
package struct AlarmBook: Sendable {
    package typealias Alarm = RoomAlarm

    package struct Entry: Sendable, Hashable {
        /// From 1, in the order in which they were set; no two of a book have the same.
        package var number: Int64
        package var alarm: Alarm
        package var setAt: Int64
        /// `nil`: it holds.
        package var clearedAt: Int64?
        /// Its id where a worker before this one has set it.
        package var earlierID: String?
        /// Until then it holds though this worker has not found it: it has only just begun to look.
        package var heldUntil: Int64?
    }

    /// What an update has brought.
    package enum Change: Sendable, Hashable {
        /// It holds from now on, or is of another severity than before.
        case set(Entry)
        case cleared(Entry)
    }

    /// How long one that is over stays listed.
    package static let keep: Int64 = 300 * TimeMath.nanoseconds
    /// Most that are listed; the oldest of those that are over give way.
    package static let capacity = 256

    /// The oldest first.
    package private(set) var entries: [Entry] = []
    private var last: Int64 = 0

    package init() {}

    /// Alarms that a worker before this one has announced: they are not announced again, and end under the ids they had.
    ///
    /// - Parameter end: Those that are not found until then are over.
    package mutating func resume(_ alarms: [(id: String, alarm: Alarm, setAt: Int64)], until end: Int64) {
        for (id, alarm, setAt) in alarms.prefix(Self.capacity) {
            self.last += 1
            self.entries.append(
                Entry(number: self.last, alarm: alarm, setAt: setAt, earlierID: id, heldUntil: end))
        }
    }

    /// - Parameters:
    ///   - current: Everything that is wrong now.
    ///   - isLast: Nothing is held any longer.
    /// - Returns: What is over, then what is new or of another severity, each in the order of the list.
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
