/// Decides when a TCP connection is closed because its peer does not read. The connection is full while more bytes wait than
/// its high-water mark.
///
/// Pure; times in nanoseconds of one monotonic clock.
package struct StreamBacklog: Sendable {
    package struct Limits: Sendable, Equatable {
        /// Maximum number of bytes that may be written while the connection is full.
        package var beyond: Int
        /// Maximum time for which the connection may be full and still be written to.
        package var patience: Int64

        package init(beyond: Int, patience: Int64) {
            self.beyond = beyond
            self.patience = patience
        }
    }

    private let limits: Limits
    private var full: (since: Int64, written: Int)?

    package init(limits: Limits) { self.limits = limits }

    package var isFull: Bool { self.full != nil }

    /// Records that the connection has become full, or has room again.
    package mutating func changed(isFull: Bool, now: Int64) {
        guard isFull != self.isFull else { return }
        self.full = isFull ? (now, 0) : nil
    }

    /// Records a write.
    ///
    /// - Returns: False if the connection must be closed instead.
    package mutating func write(_ bytes: Int, now: Int64) -> Bool {
        guard let full else { return true }
        let written = full.written + bytes
        guard written <= self.limits.beyond, now &- full.since <= self.limits.patience else { return false }
        self.full = (full.since, written)
        return true
    }
}
