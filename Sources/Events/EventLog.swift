import DequeModule
import Synchronization

/// An event of the room, as it is stored in the log and the journal and sent to webhooks.
package struct EventRecord: Sendable, Hashable {
    /// Number of the event, starting at 1 and ascending over all workers of the room.
    package let sequence: Int64
    /// The event type, for example `source.live`.
    package let type: String
    /// The event as a JSON object, without a line break.
    package let line: String

    package init(sequence: Int64, type: String, line: String) {
        self.sequence = sequence
        self.type = type
        self.line = line
    }
}

/// The room's latest events, for clients that request them and for webhooks. The log is limited in events and bytes:
/// the oldest events are dropped, and readers that are behind learn how many were dropped.
///
/// Events that only describe a moment, such as audio levels, do not count towards these limits. The log keeps the last
/// ``momentCapacity`` of them, and readers do not learn that older ones were dropped, unless a later event was dropped, too.
package final class EventLog: Sendable {
    /// Events after a given number, the oldest first.
    package struct Page: Sendable, Hashable {
        package var events: [EventRecord]
        /// Number of events after the requested number that are not in ``events``, up to the last one that was dropped from
        /// the log or, if the limit cut the page before it, up to the last event of the page; 0 if none was dropped.
        package var missed: Int64
        /// Number of events after the requested number, up to the last one that was dropped from the log; 0 if none was.
        /// Events of ``EventLog/momentTypes`` among them may still be in ``events``.
        package var skipped: Int64
        /// Number of the latest event.
        package var last: Int64
        /// Whether the log is closed, so that no more events follow.
        package var isClosed: Bool

        package init(
            events: [EventRecord], missed: Int64 = 0, skipped: Int64 = 0, last: Int64, isClosed: Bool = false
        ) {
            (self.events, self.missed, self.skipped) = (events, missed, skipped)
            (self.last, self.isClosed) = (last, isClosed)
        }

        /// The number after which the next page begins.
        package var next: Int64 { self.events.last?.sequence ?? self.last }
    }

    private struct State {
        var events: Deque<EventRecord> = []
        /// Events of ``momentTypes``, the oldest first.
        var moments: Deque<EventRecord> = []
        /// Size in bytes of the lines in ``events``.
        var bytes = 0
        /// Number of the last dropped event that is not one of ``momentTypes``, or of the last one before the log begins.
        var dropped: Int64?
        var last: Int64 = 0
        var isClosed = false
        var observers: [Int: @Sendable () -> Void] = [:]
        var nextObserver = 0
    }

    /// Maximum number of events in the log, besides those of ``momentTypes``.
    package static let capacity = 4096
    /// Types of events that only describe a moment.
    package static let momentTypes: Set<String> = ["audio.levels"]
    /// Maximum number of events of ``momentTypes`` in the log.
    package static let momentCapacity = 64
    /// Maximum size in bytes of all lines in the log, besides those of ``momentTypes``.
    package static let byteCapacity = 4 << 20

    private let capacity: Int
    private let byteCapacity: Int
    private let state: Mutex<State>

    /// Makes a log.
    ///
    /// - Parameter earlier: Events of earlier workers, the oldest first; the numbering continues after them.
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

    /// Number of the latest event; 0 if there is none.
    package var last: Int64 { self.state.withLock(\.last) }

    /// Adds the next event. An event whose number is not above the last one is ignored, as is every event after
    /// ``close()``.
    package func append(_ event: EventRecord) {
        let observers = self.state.withLock { state -> [@Sendable () -> Void] in
            guard event.sequence > state.last, !state.isClosed else { return [] }
            Self.add(event, to: &state, capacity: self.capacity, bytes: self.byteCapacity)
            return Array(state.observers.values)
        }
        for observer in observers { observer() }
    }

    /// Closes the log: no more events follow.
    package func close() {
        let observers = self.state.withLock { state in
            state.isClosed = true
            return Array(state.observers.values)
        }
        for observer in observers { observer() }
    }

    /// Returns the events after a number.
    ///
    /// - Parameters:
    ///   - sequence: Number of the last event that the reader knows; 0: none. If it is beyond the last event, the page
    ///     is empty.
    ///   - limit: Maximum number of events to return.
    package func page(after sequence: Int64, limit: Int = 256) -> Page {
        self.state.withLock { state in
            let known = min(max(0, sequence), state.last)
            var events: [EventRecord] = []
            var (event, moment) = (
                Self.index(after: known, in: state.events), Self.index(after: known, in: state.moments)
            )
            var isWhole = false
            while events.count < max(1, limit) {
                let next = event < state.events.count ? state.events[event] : nil
                let other = moment < state.moments.count ? state.moments[moment] : nil
                if let other, next.map({ other.sequence < $0.sequence }) ?? true {
                    events.append(other)
                    moment += 1
                } else if let next {
                    events.append(next)
                    event += 1
                } else {
                    isWhole = true
                    break
                }
            }
            let dropped = max(known, state.dropped ?? 0)
            let end = isWhole ? dropped : min(dropped, events.last?.sequence ?? dropped)
            return Page(
                events: events, missed: end - known - Int64(events.count { $0.sequence <= end }),
                skipped: dropped - known, last: state.last, isClosed: state.isClosed)
        }
    }

    /// Registers an observer: `body` is called after each event and when the log is closed, on the thread that adds the
    /// event, so it must not block. It is called at once if there are already events after `sequence`, or if the log is closed.
    ///
    /// - Returns: An id for ``forget(_:)``.
    package func observe(after sequence: Int64, _ body: @escaping @Sendable () -> Void) -> Int {
        let (number, isBehind) = self.state.withLock { state in
            state.nextObserver += 1
            state.observers[state.nextObserver] = body
            return (state.nextObserver, state.last > sequence || state.isClosed)
        }
        if isBehind { body() }
        return number
    }

    /// Number of observers.
    package var observers: Int { self.state.withLock { $0.observers.count } }

    /// Removes an observer.
    package func forget(_ observer: Int) {
        _ = self.state.withLock { $0.observers.removeValue(forKey: observer) }
    }

    private static func add(_ event: EventRecord, to state: inout State, capacity: Int, bytes: Int) {
        state.last = event.sequence
        state.dropped = state.dropped ?? event.sequence - 1
        // A text that was made piece by piece may have twice the memory that it needs.
        let event = EventRecord(
            sequence: event.sequence, type: event.type, line: String(decoding: Array(event.line.utf8), as: UTF8.self))
        guard !self.momentTypes.contains(event.type) else {
            state.moments.append(event)
            if state.moments.count > self.momentCapacity { state.moments.removeFirst() }
            return
        }
        state.events.append(event)
        state.bytes += event.line.utf8.count
        while state.events.count > capacity || (state.bytes > bytes && state.events.count > 1) {
            guard let oldest = state.events.popFirst() else { return }
            state.bytes -= oldest.line.utf8.count
            state.dropped = oldest.sequence
        }
    }

    /// Returns the index of the first event above `sequence`, with a binary search, because numbers may be missing
    /// after a recovery.
    private static func index(after sequence: Int64, in events: Deque<EventRecord>) -> Int {
        var (low, high) = (0, events.count)
        while low < high {
            let middle = (low + high) / 2
            if events[middle].sequence > sequence { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
