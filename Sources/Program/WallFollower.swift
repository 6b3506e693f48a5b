/// Decides when a source applies the additional delay that wall-clock alignment requests, and holds the delay in use.
///
/// A large change (a step) is applied after it was requested for ``patience``; small differences are corrected by
/// gliding. A source that was aligned and has no partner any more keeps its delay, because going back would be a
/// visible discontinuity without benefit.
struct WallFollower: Sendable {
    /// Time for which a step must be requested before it is applied, in nanoseconds.
    static let patience: Int64 = 500_000_000
    /// Minimum time between two steps, in nanoseconds.
    static let rest: Int64 = 5_000_000_000
    /// Differences up to this, in nanoseconds, are corrected by gliding. Aligned sources are at most 50 ms apart.
    static let tolerance: Int64 = 20_000_000

    var meter = WallClockMeter()
    /// Additional delay of the source through alignment, in nanoseconds.
    private(set) var extra: Int64 = 0
    /// Whether the source is aligned with at least one other source.
    private(set) var isAligned = false
    /// Whether this is the source that all other aligned sources wait for.
    private(set) var isWaitedFor = false
    private var askedSince: Int64?
    private var steppedAt: Int64?

    /// Records the delay that alignment requests, and decides whether to apply it in one step now.
    ///
    /// - Parameters:
    ///   - wanted: The extra delay computed by ``WallAlignment``.
    ///   - isFree: Whether nothing has been shown yet, so that a step has no visible effect.
    /// - Returns: Whether the source's time mapping must change by a step now.
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
