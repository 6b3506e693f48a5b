/// Tracks a server's acknowledgements, to find out whether the server still reads.
///
/// Pure; times are nanoseconds of one monotonic clock. The kernel accepts bytes for a hanging program for seconds, but
/// only the program itself sends acknowledgements. Servers acknowledge after a number of bytes of their own choice,
/// whether or not a window was requested. Some servers never acknowledge; they never count as hanging here.
///
/// Spec: RTMP 1.0 §5.4.3: sequence numbers of 32 bits. Some servers restart at 0xF0000000 instead of 2³².
package struct AcknowledgementTracker: Sendable {
    private static let earlyRestart: UInt64 = 0xF000_0000
    /// Bytes by which an acknowledgement may exceed the number of bytes sent, because some servers count the handshake
    /// twice.
    private static let slack: UInt64 = 64 << 10

    private let window: UInt64
    /// Number of bytes that the server has acknowledged on this connection.
    package private(set) var acknowledged: UInt64 = 0
    /// True if the server has sent an acknowledgement.
    package private(set) var isKept = false
    private var last: UInt32 = 0
    private var longestGap: UInt64 = 0
    /// Time since which ``allowance`` bytes or more are unacknowledged, in nanoseconds; `nil` if fewer are, or if the
    /// server has never acknowledged.
    private var overdueSince: Int64?

    /// Creates a tracker for a new connection.
    ///
    /// - Parameter window: Bytes after which the server was asked to acknowledge.
    package init(window: UInt32) { self.window = UInt64(window) }

    /// Bytes that may be unacknowledged before an acknowledgement is overdue.
    package var allowance: UInt64 { max(self.window, self.longestGap) &* 2 }

    /// Records the total number of bytes sent over this connection.
    package mutating func sent(_ total: UInt64, now: Int64) {
        guard self.isKept, self.overdueSince == nil, total >= self.acknowledged &+ self.allowance else { return }
        self.overdueSince = now
    }

    /// Records an acknowledgement.
    ///
    /// - Parameters:
    ///   - sequence: Sequence number in the acknowledgement.
    ///   - total: Bytes sent so far.
    package mutating func acknowledge(_ sequence: UInt32, sent total: UInt64, now: Int64) {
        let before = self.acknowledged
        let limit = total &+ Self.slack
        let forward = before &+ UInt64(sequence &- self.last)
        if !self.isKept {
            self.acknowledged = min(UInt64(sequence), total)
        } else if forward <= limit {
            self.acknowledged = min(forward, total)
        } else {
            var restarted = before / Self.earlyRestart &* Self.earlyRestart &+ UInt64(sequence)
            if restarted <= before { restarted &+= Self.earlyRestart }
            guard restarted <= limit else { return }
            self.acknowledged = min(restarted, total)
        }
        self.isKept = true
        self.last = sequence
        guard self.acknowledged > before else { return }
        self.longestGap = max(self.longestGap, self.acknowledged - before)
        self.overdueSince = nil
        self.sent(total, now: now)
    }

    /// Returns for how many nanoseconds an acknowledgement has been overdue; `nil` if none is overdue.
    package func overdue(_ now: Int64) -> Int64? { self.overdueSince.map { now &- $0 } }
}
