package import Events
import HLS
package import MediaTypes
package import PipelineSpec
package import Threading
import Synchronization

/// The room's one stream of events: a JSON object a line, numbered, in order. It knows nobody.
///
/// A line: `{"type":"source.live","time":"2026-11-20T22:12:18.136Z","sequence":7,"roomId":"88231","incarnation":1,
/// "programTimeMs":4200,"programDateTime":"2026-11-20T22:12:18.130Z", …}`. `time` is the machine's wall clock;
/// `programDateTime` is the program's, as in the playlists' EXT-X-PROGRAM-DATE-TIME, once the program runs.
package final class RoomEvents: Sendable {
    private struct State {
        var incarnation: Int64 = 0
        var origin: Int64 = 0
        /// Number of the last event of this worker.
        var last: Int64 = 0
        var programTime: (@Sendable () -> Int64?)?
    }

    private let roomID: String
    /// The latest events.
    package let log: EventLog
    private let journal: EventJournal?
    private let vocabularies: [EventVocabulary]
    private let wall: any WallClock
    private let write: @Sendable (String) -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - directory: Where events are kept across workers; `nil`: nowhere.
    ///   - vocabularies: Of other products, whose words stand in `compat`.
    ///   - wall: The time each event bears.
    ///   - write: Gets each line without its newline, from any thread, one at a time; must not block.
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

    /// From here on every event bears the program's time.
    ///
    /// - Parameters:
    ///   - origin: Nanoseconds since the Unix epoch at program time zero.
    ///   - time: Program time now, in nanoseconds.
    package func setProgramTime(origin: Int64, _ time: @escaping @Sendable () -> Int64?) {
        self.state.withLock { ($0.origin, $0.programTime) = (origin, time) }
    }

    /// Emits one event.
    ///
    /// - Parameters:
    ///   - type: Dotted, in the field's words: `room.ready`, `source.lost`, `segment.published` …
    ///   - members: What belongs to this type, after the common members.
    package func emit(_ type: String, _ members: KeyValuePairs<String, JSONValue> = [:]) {
        let time = ProgramDate.format(self.wall.now())
        // The lock is held over the hand-over: a reader must see the numbers in order.
        self.state.withLock { state in
            // The log accepts nothing after its end, but the results of the last deliveries are still written to standard output.
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

    /// Ends the log: clients that wait for events get the end, and all events are on disk.
    package func close() {
        self.log.close()
        self.journal?.flush()
    }
}
