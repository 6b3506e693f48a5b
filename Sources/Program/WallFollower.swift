import MediaTypes

/// What the world's time asks of one source's mapping: to be shown later than its jitter buffer asks for.
///
/// A step is taken once, when it has been asked for long enough; what is small is left to gliding. Whoever was aligned and
/// is alone now stays where it is: going back would be a seam for nothing.
struct WallFollower: Sendable {
    /// A step that is asked for this long is meant.
    static let patience: Int64 = 500_000_000
    /// Between two steps: what changes more often is not followed.
    static let rest: Int64 = 5_000_000_000
    /// Less is worked off by gliding. Two sources are 50 ms apart at most.
    static let tolerance: Int64 = 20_000_000

    var meter = WallClockMeter()
    /// Nanoseconds it is shown later.
    private(set) var extra: Int64 = 0
    /// It is aligned with others.
    private(set) var isAligned = false
    /// It is the one that the others wait for.
    private(set) var isWaitedFor = false
    private var askedSince: Int64?
    private var steppedAt: Int64?

    /// - Parameters:
    ///   - wanted: What ``WallAlignment`` asks for.
    ///   - isFree: Nothing has been shown yet: a step costs nothing.
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
