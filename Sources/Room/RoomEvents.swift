#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif
import HLS
package import MediaTypes
import Stages
import Synchronization

/// The room's one stream of events: a JSON object a line, numbered, in order. It knows nobody.
///
/// A line: `{"type":"source.live","time":"2026-11-20T22:12:18.136Z","sequence":7,"roomId":"88231","incarnation":1, …}`.
package final class RoomEvents: Sendable {
    private struct State {
        var sequence: Int64 = 0
        var incarnation: Int64 = 0
    }

    private let roomID: String
    private let write: @Sendable (String) -> Void
    private let state = Mutex(State())

    /// - Parameter write: Gets each line without its newline, from any thread, one at a time; must not block.
    package init(roomID: String, write: @escaping @Sendable (String) -> Void) {
        self.roomID = roomID
        self.write = write
    }

    package func setIncarnation(_ incarnation: Int64) { self.state.withLock { $0.incarnation = incarnation } }

    /// Emits one event.
    ///
    /// - Parameters:
    ///   - type: Dotted, in the field's words: `room.ready`, `source.lost`, `segment.published` …
    ///   - members: What belongs to this type, after the common members.
    package func emit(_ type: String, _ members: KeyValuePairs<String, JSONValue> = [:]) {
        let time = ProgramDate.format(SystemClock.wallClock())
        // The lock is held over the hand-over: a reader must see the numbers in order.
        self.state.withLock { state in
            state.sequence += 1
            let common: [JSONValue.Member] = [
                .init("type", .string(type)), .init("time", .string(time)), .init("sequence", .integer(state.sequence)),
                .init("roomId", .string(self.roomID)), .init("incarnation", .integer(state.incarnation)),
            ]
            self.write(JSONValue.object(common + members.map { .init($0.key, $0.value) }).text)
        }
    }
}
