import MediaTypes

/// What a server says it has received of what was sent: whether it still reads.
///
/// Pure; times are nanoseconds of one monotonic clock. A kernel takes bytes for a program that hangs, for seconds; the
/// program itself acknowledges. Servers acknowledge after as many bytes as they like, asked for a window or not, and some
/// never do: those are never found to hang by this.
///
/// Spec: RTMP 1.0 §5.4.3: sequence numbers of 32 bits. Servers are seen that begin anew at 0xF0000000 instead of 2³².
package struct AckLedger: Sendable {
    private static let earlyRestart: UInt64 = 0xF000_0000
    /// Bytes that an acknowledgement may be ahead of what was sent, as those are counted that count the handshake twice.
    private static let slack: UInt64 = 64 << 10

    private let window: UInt64
    /// Bytes of this connection, as far as acknowledged.
    package private(set) var acknowledged: UInt64 = 0
    /// The server acknowledges at all.
    package private(set) var isKept = false
    private var last: UInt32 = 0
    private var longestGap: UInt64 = 0
    /// Since when more is out than the server takes to acknowledge.
    private var overdueSince: Int64?

    /// - Parameter window: Bytes that the server was asked to acknowledge after.
    package init(window: UInt32) { self.window = UInt64(window) }

    /// Bytes that may be out before an acknowledgement is overdue.
    package var allowance: UInt64 { max(self.window, self.longestGap) &* 2 }

    /// So many bytes have been sent over this connection.
    package mutating func sent(_ total: UInt64, now: Int64) {
        guard self.isKept, self.overdueSince == nil, total >= self.acknowledged &+ self.allowance else { return }
        self.overdueSince = now
    }

    /// - Parameters:
    ///   - sequence: What the server says.
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

    /// For how long an acknowledgement has been overdue, in nanoseconds; `nil`: none is.
    package func overdue(_ now: Int64) -> Int64? { self.overdueSince.map { now &- $0 } }
}
