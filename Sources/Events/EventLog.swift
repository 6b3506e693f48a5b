import DequeModule
import Synchronization

/// One event of the room: what the log keeps, the journal stores and webhooks receive.
package struct EventRecord: Sendable, Hashable {
    /// From 1 on, without a hole over all workers of the room.
    package let sequence: Int64
    /// Dotted, such as `source.live`.
    package let type: String
    /// One JSON object, without a line break.
    package let line: String

    package init(sequence: Int64, type: String, line: String) {
        self.sequence = sequence
        self.type = type
        self.line = line
    }
}

/// The room's latest events, for those who ask for them and those they are sent to. Bounded in number and bytes: the oldest
/// give way, and whoever is behind them is told how many went.
package final class EventLog: Sendable {
    /// Some events after a place in the order, the oldest first.
    package struct Page: Sendable, Hashable {
        package var events: [EventRecord]
        /// Events after the asked place that are not kept any more.
        package var missed: Int64
        /// Number of the latest event of all.
        package var last: Int64
        /// The room tells no more events.
        package var isClosed: Bool

        package init(events: [EventRecord], missed: Int64 = 0, last: Int64, isClosed: Bool = false) {
            (self.events, self.missed, self.last, self.isClosed) = (events, missed, last, isClosed)
        }

        /// Where to go on.
        package var next: Int64 { self.events.last?.sequence ?? self.last }
    }

    private struct State {
        var events: Deque<EventRecord> = []
        var bytes = 0
        var last: Int64 = 0
        var isClosed = false
        var observers: [Int: @Sendable () -> Void] = [:]
        var nextObserver = 0
    }

    /// Most events that are kept.
    package static let capacity = 4096
    /// Most bytes of lines that are kept.
    package static let byteCapacity = 4 << 20

    private let capacity: Int
    private let byteCapacity: Int
    private let state: Mutex<State>

    /// - Parameter earlier: What workers before this one told, the oldest first; numbering goes on behind it.
    package init(
        earlier: [EventRecord] = [], capacity: Int = EventLog.capacity, byteCapacity: Int = EventLog.byteCapacity
    ) {
        self.capacity = max(1, capacity)
        self.byteCapacity = byteCapacity
        var state = State()
        for event in earlier where event.sequence > state.last {
            Self.add(event, to: &state, capacity: self.capacity, bytes: byteCapacity)
        }
        self.state = Mutex(state)
    }

    /// Number of the latest event; 0: none.
    package var last: Int64 { self.state.withLock(\.last) }

    /// Takes the next event; one whose number is not above the last one's is left out.
    package func append(_ event: EventRecord) {
        let observers = self.state.withLock { state -> [@Sendable () -> Void] in
            guard event.sequence > state.last, !state.isClosed else { return [] }
            Self.add(event, to: &state, capacity: self.capacity, bytes: self.byteCapacity)
            return Array(state.observers.values)
        }
        for observer in observers { observer() }
    }

    /// No event follows.
    package func close() {
        let observers = self.state.withLock { state in
            state.isClosed = true
            return Array(state.observers.values)
        }
        for observer in observers { observer() }
    }

    /// - Parameters:
    ///   - sequence: The last event that is known already; 0: none. Beyond the last one: nothing is new.
    ///   - limit: Most events to give.
    package func page(after sequence: Int64, limit: Int = 256) -> Page {
        self.state.withLock { state in
            let known = min(max(0, sequence), state.last)
            let oldest = state.events.first?.sequence ?? state.last + 1
            let start = Self.index(after: known, in: state.events)
            let events = Array(state.events[start...].prefix(max(1, limit)))
            return Page(
                events: events, missed: max(0, oldest - 1 - known), last: state.last, isClosed: state.isClosed)
        }
    }

    /// Calls `body` after each event and at the end, from whatever thread tells it: it must not block. At once, too, when there
    /// is something after `sequence` already.
    ///
    /// - Returns: What ``forget(_:)`` takes.
    package func observe(after sequence: Int64, _ body: @escaping @Sendable () -> Void) -> Int {
        let (number, isBehind) = self.state.withLock { state in
            state.nextObserver += 1
            state.observers[state.nextObserver] = body
            return (state.nextObserver, state.last > sequence || state.isClosed)
        }
        if isBehind { body() }
        return number
    }

    /// How many wait for events.
    package var observers: Int { self.state.withLock { $0.observers.count } }

    package func forget(_ observer: Int) {
        _ = self.state.withLock { $0.observers.removeValue(forKey: observer) }
    }

    private static func add(_ event: EventRecord, to state: inout State, capacity: Int, bytes: Int) {
        state.last = event.sequence
        state.events.append(event)
        state.bytes += event.line.utf8.count
        while state.events.count > capacity || (state.bytes > bytes && state.events.count > 1) {
            guard let oldest = state.events.popFirst() else { return }
            state.bytes -= oldest.line.utf8.count
        }
    }

    /// Index of the first event above `sequence`: binary search, since a room that recovers may have holes.
    private static func index(after sequence: Int64, in events: Deque<EventRecord>) -> Int {
        var (low, high) = (0, events.count)
        while low < high {
            let middle = (low + high) / 2
            if events[middle].sequence > sequence { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
