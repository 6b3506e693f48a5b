package import MediaTypes

/// Limits the rate of events about refused publishers, so that a flood of wrong keys does not become a flood of events.
/// Counts all refusals. Pure.
package struct RefusalReports: Sendable {
    private struct Sender {
        var budget: TokenBucket
        var silent = 0
    }

    /// Rate limit per client address: events per second, and number of events that may be emitted at once.
    private static let rate = (perSecond: Int64(1), burst: Int64(20))
    /// Number of client addresses with their own limit; all others share one.
    private static let maximum = 256

    private var senders: [Substring: Sender] = [:]
    /// Number of refusals by error code; nil is the key for connections that ended before they published.
    package private(set) var counts: [ErrorCode?: Int64] = [:]

    package init() {}

    /// Counts a refused publisher, and decides whether to emit an event.
    ///
    /// - Parameters:
    ///   - remote: Address of the client, `HOST:PORT`.
    ///   - code: Why the publisher was refused; nil if the connection ended before it published.
    ///   - now: Nanoseconds of a monotonic clock.
    /// - Returns: The number of refusals from this address, or from all that share its limit, that were not reported since
    ///   the last event; nil if no event must be emitted.
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
