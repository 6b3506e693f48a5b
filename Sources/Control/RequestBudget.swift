import Synchronization

/// Limits the number of requests per second that a listener answers: a token bucket with a capacity of one second.
/// Times are monotonic, in nanoseconds.
package final class RequestBudget: Sendable {
    private struct State {
        /// Remaining credit, in billionths of a request.
        var credit: Int64
        var last: Int64
    }

    private let perSecond: Int64
    private let state: Mutex<State>

    /// - Parameter perSecond: Rate limit in requests per second, 1 to 1,000,000.
    package init(perSecond: Int, now: Int64) {
        self.perSecond = Int64(min(max(1, perSecond), 1_000_000))
        self.state = Mutex(State(credit: self.perSecond * 1_000_000_000, last: now))
    }

    /// Takes one request from the budget; returns false if it is exhausted.
    package func take(now: Int64) -> Bool {
        self.state.withLock { state in
            let full = self.perSecond * 1_000_000_000
            let elapsed = min(max(0, now &- state.last), 1_000_000_000)
            state.last = max(state.last, now)
            state.credit = min(full, state.credit + elapsed * self.perSecond)
            guard state.credit >= 1_000_000_000 else { return false }
            state.credit -= 1_000_000_000
            return true
        }
    }
}
