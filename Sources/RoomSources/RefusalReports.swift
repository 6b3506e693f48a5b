package import MediaTypes

/// Limits the events about refused publishers, so that a flood of wrong keys does not become a flood of events, and
/// counts all of them. Pure.
package struct RefusalReports: Sendable {
    private struct Sender {
        var budget: TokenBucket
        var silent = 0
    }

    /// Events per second of one address, and its burst.
    private static let rate = (perSecond: Int64(1), burst: Int64(20))
    /// Number of addresses with a limit of their own; all others share one.
    private static let maximum = 256

    private var senders: [Substring: Sender] = [:]
    /// Refusals so far by error code; nil: connections that ended before they published.
    package private(set) var counts: [ErrorCode?: Int64] = [:]

    package init() {}

    /// Counts a refused publisher.
    ///
    /// - Parameters:
    ///   - remote: The client's address, `HOST:PORT`.
    ///   - code: Why it was refused; nil if the connection ended before it published.
    ///   - now: Nanoseconds of a monotonic clock.
    /// - Returns: How many refusals of the same address were not reported since the last report; `nil`: do not report
    ///   this one either.
    package mutating func tell(_ remote: String, code: ErrorCode? = nil, now: Int64) -> Int? {
        self.counts[code, default: 0] += 1
        var host = remote[..<(remote.lastIndex(of: ":") ?? remote.endIndex)]
        if self.senders[host] == nil {
            if self.senders.count >= Self.maximum {
                self.senders = self.senders.filter { !$0.value.budget.isFull(at: now) }
            }
            if self.senders.count >= Self.maximum { host = "" }
        }
        var sender = self.senders[host] ?? Sender(budget: TokenBucket(Self.rate, now: now))
        defer { self.senders[host] = sender }
        guard sender.budget.take(now: now) else {
            sender.silent += 1
            return nil
        }
        defer { sender.silent = 0 }
        return sender.silent
    }
}
