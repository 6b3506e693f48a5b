import MediaTypes

/// How often it is told that somebody was refused: a flood of wrong keys must not become a flood of events. Pure.
package struct RefusalReports: Sendable {
    private struct Sender {
        var budget: TokenBucket
        var silent = 0
    }

    /// Of one address, at once and in the long run.
    private static let rate = (perSecond: Int64(1), burst: Int64(20))
    /// Addresses that are told apart; what comes from others counts for all of them together.
    private static let maximum = 256

    private var senders: [Substring: Sender] = [:]

    package init() {}

    /// Somebody at `remote` (`HOST:PORT`) was refused, in nanoseconds of a monotonic clock.
    ///
    /// - Returns: How many more of the same address were not told since the last time; `nil`: this one is not told either.
    package mutating func tell(_ remote: String, now: Int64) -> Int? {
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
