package import Events
import HLS
package import MediaTypes
package import PipelineSpec
package import Threading
import Synchronization

/// The stream of the room's events: one JSON object per line, numbered and in order.
///
/// A line: `{"type":"source.live","time":"2026-11-20T22:12:18.136Z","sequence":7,"roomId":"88231","incarnation":1,
/// "programTimeMs":4200,"programDateTime":"2026-11-20T22:12:18.130Z", …}`. `time` is the machine's wall clock;
/// `programDateTime` is the program's, as in the playlists' EXT-X-PROGRAM-DATE-TIME, once the program runs.
package final class RoomEvents: Sendable {
    private struct State {
        var incarnation: Int64 = 0
        var origin: Int64 = 0
        /// Number of the last event that this worker emitted; 0 before the first.
        var last: Int64 = 0
        var programTime: (@Sendable () -> Int64?)?
    }

    private let roomID: String
    /// The latest events, for API clients.
    package let log: EventLog
    private let journal: EventJournal?
    private let vocabularies: [EventVocabulary]
    private let wall: any WallClock
    private let write: @Sendable (String) -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - directory: Directory of the journal that keeps events across workers; nil if they are not kept.
    ///   - vocabularies: Other services whose names for the event are added as `compat`.
    ///   - wall: The clock for the event's `time`.
    ///   - write: Receives each line without its newline, from any thread, one call at a time; must not block.
    package init(
        roomID: String, directory: String? = nil, vocabularies: [EventVocabulary] = [], wall: any WallClock,
        write: @escaping @Sendable (String) -> Void
    ) {
        self.roomID = roomID
        self.log = EventLog(earlier: directory.map { EventJournal.read(directory: $0) } ?? [])
        self.journal = directory.map { EventJournal(directory: $0) }
        self.vocabularies = vocabularies
        self.wall = wall
        self.write = write
    }

    package func setIncarnation(_ incarnation: Int64) { self.state.withLock { $0.incarnation = incarnation } }

    /// Adds the program's time to every event from now on.
    ///
    /// - Parameters:
    ///   - origin: Wall clock time of program time 0, in nanoseconds since the Unix epoch.
    ///   - time: Returns the current program time in nanoseconds; nil if it is unknown.
    package func setProgramTime(origin: Int64, _ time: @escaping @Sendable () -> Int64?) {
        self.state.withLock { ($0.origin, $0.programTime) = (origin, time) }
    }

    /// Emits one event.
    ///
    /// - Parameters:
    ///   - type: Type of the event, such as `room.ready` or `source.lost`.
    ///   - members: Members of this type; they follow the common members.
    package func emit(_ type: String, _ members: KeyValuePairs<String, JSONValue> = [:]) {
        let time = ProgramDate.format(self.wall.now())
        // The lock is held while the event is passed on, so that readers receive events in the order of their numbers.
        self.state.withLock { state in
            // The log accepts nothing after its end, but the results of the last deliveries are still written to
            // standard output.
            let sequence = max(self.log.last, state.last) + 1
            state.last = sequence
            var common: [JSONValue.Member] = [
                .init("type", .string(type)), .init("time", .string(time)), .init("sequence", .integer(sequence)),
                .init("roomId", .string(self.roomID)), .init("incarnation", .integer(state.incarnation)),
            ]
            if let program = state.programTime?() {
                common.append(.init("programTimeMs", .integer(program / 1_000_000)))
                common.append(.init("programDateTime", .string(ProgramDate.format(state.origin &+ program))))
            }
            var own = members.map { JSONValue.Member($0.key, $0.value) }
            if let compat = self.compat(type, own) { own.append(.init("compat", compat)) }
            let line = JSONValue.object(common + own).text
            let event = EventRecord(sequence: sequence, type: type, line: line)
            self.write(line)
            self.journal?.append(event)
            self.log.append(event)
        }
    }

    private func compat(_ type: String, _ members: [JSONValue.Member]) -> JSONValue? {
        guard !self.vocabularies.isEmpty else { return nil }
        return EventCompat.value(self.vocabularies, type: type) { name in
            switch members.first(where: { $0.name == name })?.value {
            case .string(let text): text
            case .bool(let isTrue): isTrue ? "true" : "false"
            case .integer(let number): "\(number)"
            default: nil
            }
        }
    }

    /// Ends the log: waiting clients receive the end, and all events are written to disk.
    package func close() {
        self.log.close()
        self.journal?.flush()
    }
}
