/// Keeps two encoders with one key from taking over from each other for ever.
///
/// Pure; times are nanoseconds of one monotonic clock.
struct FlapGuard: Sendable {
    static let maximumTakeovers = 2
    static let window: Int64 = 10_000_000_000
    /// A publisher that has been silent for this long is no rival: most likely it is the same encoder's half-open
    /// connection, and taking over from that is not counted.
    static let silence: Int64 = 2_000_000_000

    private var takeovers: [Int64] = []

    /// True when one more takeover is allowed now; it counts then.
    mutating func allowsTakeover(now: Int64) -> Bool {
        self.takeovers.removeAll { now &- $0 >= FlapGuard.window }
        guard self.takeovers.count < FlapGuard.maximumTakeovers else { return false }
        self.takeovers.append(now)
        return true
    }
}
