/// Keeps two encoders with one key from taking over from each other for ever.
///
/// Only a takeover from a publisher that sends media counts. A silent one is no rival: most likely it is the half-open
/// connection of the encoder that comes back. Pure; times are nanoseconds of one monotonic clock.
package struct FlapGuard: Sendable {
    /// Takeovers that count within ``window``; the next one is refused.
    package static let maximumTakeovers = 2
    package static let window: Int64 = 10_000_000_000
    /// A publisher whose last packet is as old as this is silent. As long as it takes by default until its source is `stalled`, so
    /// that an encoder that comes back then is always let in; two encoders that fight send at least one packet in this time.
    package static let silence: Int64 = 1_000_000_000

    private var takeovers: [Int64] = []

    package init() {}

    /// True if the publisher may be taken over from now; the takeover counts then, unless the publisher is silent.
    ///
    /// - Parameters:
    ///   - since: When it began to publish.
    ///   - lastPacket: When a packet of its source last arrived, perhaps of a publisher before it.
    package mutating func allowsTakeover(since: Int64, lastPacket: Int64, now: Int64) -> Bool {
        if lastPacket < since || now &- lastPacket >= Self.silence { return true }
        self.takeovers.removeAll { now &- $0 >= Self.window }
        guard self.takeovers.count < Self.maximumTakeovers else { return false }
        self.takeovers.append(now)
        return true
    }
}
