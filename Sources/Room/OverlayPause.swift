/// Decides when overlays are dropped because the machine cannot keep up: before the first step of ``Overload``, which waits
/// for longer.
struct OverlayPause {
    /// Time with the lag above the limit after which overlays are dropped, in nanoseconds.
    private static let patience: Int64 = 250_000_000

    private var since: Int64?

    /// Returns whether overlays are dropped now.
    ///
    /// - Parameter now: Monotonic time in nanoseconds.
    mutating func step(_ overload: Overload, at now: Int64) -> Bool {
        self.since = overload.lag > overload.rules.limit ? self.since ?? now : nil
        return overload.taken > 0 || self.since.map { now &- $0 >= Self.patience } == true
    }
}
