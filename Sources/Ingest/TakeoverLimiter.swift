/// Stops two encoders with the same key from taking over from each other forever.
///
/// Only a takeover from a publisher that sends media counts. A silent publisher is most likely the half-open connection
/// of the encoder that reconnects. Pure; times are nanoseconds of one monotonic clock.
package struct TakeoverLimiter: Sendable {
    /// Number of takeovers allowed within ``window``; the next one is refused.
    package static let maximumTakeovers = 2
    package static let window: Int64 = 10_000_000_000
    /// A publisher counts as silent if it has sent no packet, or its last packet is at least this old, in nanoseconds.
    package static let silence: Int64 = 1_000_000_000

    private var takeovers: [Int64] = []

    package init() {}

    /// Returns true if a newer connection may take over from the current publisher now. The takeover counts unless the
    /// publisher is silent.
    ///
    /// - Parameters:
    ///   - since: When the current publisher began to publish.
    ///   - lastPacket: When the last packet of the source arrived, possibly from an earlier publisher.
    package mutating func allowsTakeover(since: Int64, lastPacket: Int64, now: Int64) -> Bool {
        if lastPacket < since || now &- lastPacket >= Self.silence { return true }
        self.takeovers.removeAll { now &- $0 >= Self.window }
        guard self.takeovers.count < Self.maximumTakeovers else { return false }
        self.takeovers.append(now)
        return true
    }
}
