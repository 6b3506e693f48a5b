/// Applies the wall-clock alignment to one source's time mapping: the source is shown later than its jitter buffer
/// requires.
///
/// A step is taken once, after it was requested for ``patience``; small differences are left to gliding. A source that
/// was aligned and has no partner any more stays where it is, because going back would be a visible discontinuity
/// without benefit.
struct WallFollower: Sendable {
    /// A step must be requested for this long, in nanoseconds.
    static let patience: Int64 = 500_000_000
    /// Minimum time between two steps, in nanoseconds.
    static let rest: Int64 = 5_000_000_000
    /// Smaller differences are corrected by gliding, in nanoseconds. Aligned sources are at most 50 ms apart.
    static let tolerance: Int64 = 20_000_000

    var meter = WallClockMeter()
    /// How much later the source is shown, in nanoseconds.
    private(set) var extra: Int64 = 0
    /// The source is aligned with others.
    private(set) var isAligned = false
    /// The source is the one that the others wait for.
    private(set) var isWaitedFor = false
    private var askedSince: Int64?
    private var steppedAt: Int64?

    /// - Parameters:
    ///   - wanted: The extra delay computed by ``WallAlignment``.
    ///   - isFree: Nothing has been shown yet, so that a step has no visible effect.
    /// - Returns: Whether the mapping must take a step now.
    mutating func follow(_ wanted: Int64?, at time: Int64, isFree: Bool) -> Bool {
        self.isAligned = wanted != nil
        self.isWaitedFor = wanted == 0
        guard let wanted else {
            self.askedSince = nil
            return false
        }
        if isFree || (wanted &- self.extra).magnitude <= UInt64(Self.tolerance) {
            self.extra = wanted
            self.askedSince = nil
            return false
        }
        let since = self.askedSince ?? time
        self.askedSince = since
        guard time &- since >= Self.patience, time &- (self.steppedAt ?? time &- Self.rest) >= Self.rest else {
            return false
        }
        self.extra = wanted
        self.steppedAt = time
        self.askedSince = nil
        return true
    }
}
