import HTTPTypes
import Synchronization

/// Counts a listener's replies by status, the bytes of their bodies, and all bytes sent, since the listener was started.
package final class ReplyCounters: Sendable {
    /// The counters of replies with one status.
    package struct Row: Sendable, Hashable {
        /// The status, such as `200`; `other` for a status that is not counted separately.
        package let code: String
        package var replies: Int64 = 0
        /// Bytes of bodies, without heads and encryption.
        package var bytes: Int64 = 0

        /// A row without replies.
        package init(code: String) { self.code = code }
    }

    /// Statuses with counters of their own. The list is fixed, so the number of counters is bounded.
    private static let codes = [101, 200, 204, 206, 304, 400, 403, 404, 405, 410, 413, 414, 416, 429, 500, 501, 503]

    private let state = Mutex(
        ReplyCounters.codes.map { Row(code: "\($0)") } + [Row(code: "other")])
    private let sent = Atomic<Int64>(0)

    /// One row for each status in ascending order, including those that have not occurred; `other` is the last row.
    package var rows: [Row] { self.state.withLock { $0 } }

    /// Bytes that connections have written: heads, bodies, frames and encryption, including those that still wait in
    /// memory for a slow client. A connection adds its bytes at least once per second while it writes, and when it closes.
    package var sentBytes: Int64 { self.sent.load(ordering: .relaxed) }

    /// Counts a reply. Does not allocate.
    ///
    /// - Returns: The index of the reply's row, for ``counted(bytes:row:)``.
    func counted(_ status: HTTPResponse.Status) -> Int {
        let row = Self.codes.firstIndex(of: status.code) ?? Self.codes.count
        self.state.withLock { $0[row].replies += 1 }
        return row
    }

    /// Counts bytes of a body. Does not allocate.
    func counted(bytes: Int, row: Int) {
        if bytes > 0 { self.state.withLock { $0[row].bytes += Int64(bytes) } }
    }

    /// Counts bytes passed to a socket.
    func counted(sent bytes: Int) { self.sent.wrappingAdd(Int64(bytes), ordering: .relaxed) }
}
