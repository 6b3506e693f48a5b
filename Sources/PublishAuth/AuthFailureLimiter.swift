package import PipelineSpec

/// Counts wrong keys per client network. Pure.
///
/// A person who mistyped a key gets an explanation after a second. A client that tries many keys is refused at once, without
/// an explanation. A valid key is not affected, because many people may share an address.
package struct AuthFailureLimiter: Sendable {
    package enum Answer: Sendable, Hashable {
        /// Refuse with an explanation, after a delay.
        case explain
        /// Refuse at once, without an explanation.
        case drop
    }

    /// Rate of wrong keys per network that are answered: sustained, and as a burst.
    private static let rate = (perSecond: Int64(1), burst: Int64(10))

    private var places = ClientRateLimiter(Self.rate)

    package init() {}

    package var count: Int { self.places.count }

    /// Counts a wrong key from `address` and returns how to answer it; `now` is in nanoseconds of a monotonic clock.
    package mutating func failed(at address: IPAddress?, now: Int64) -> Answer {
        self.places.take(at: address, now: now) ? .explain : .drop
    }
}
