import MediaTypes

/// Limits how many connectivity checks are processed from senders without a session.
///
/// Everybody can send checks with a wrong MESSAGE-INTEGRITY (RFC 8445 §7.3) and forged addresses, and each one costs an HMAC. Without
/// a limit, a flood of them takes the time in which the media of publishers is read. A client needs a few checks before it has a
/// session, and repeats those that are lost (RFC 8445 §14).
package struct CheckLimiter: Sendable {
    /// Rate limit of connectivity checks from unknown addresses: per second, and as a burst.
    package static let rate = (perSecond: Int64(2_000), burst: Int64(500))

    private var bucket: TokenBucket

    /// - Parameter now: Monotonic time in nanoseconds.
    package init(now: Int64) { self.bucket = TokenBucket(Self.rate, now: now) }

    /// Returns whether a datagram is to be processed. Only STUN messages from unknown addresses are limited.
    ///
    /// - Parameters:
    ///   - first: The datagram's first byte; 0 to 3 is a STUN message (RFC 7983 §7).
    ///   - isKnown: Whether a valid check came from the sender's address before. Called only for STUN messages.
    ///   - now: Monotonic time in nanoseconds.
    package mutating func allows(_ first: UInt8, isKnown: @autoclosure () -> Bool, now: Int64) -> Bool {
        first > 3 || isKnown() || self.bucket.take(now: now)
    }
}
