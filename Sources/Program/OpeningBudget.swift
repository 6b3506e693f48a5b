import MediaTypes

/// How often a decoder of one track may be opened.
///
/// To open one costs some hundred times what a packet does, and whoever sends a new format with each message would keep the
/// thread and libavcodec's memory busy with nothing else. An encoder changes its format when its picture is turned, a call comes
/// or its connection was bad: rarely, and then a few times in a row.
struct OpeningBudget {
    /// A second in the long run, and at once.
    static let rate = (perSecond: Int64(1), burst: Int64(5))

    private var budget: RateBudget?

    /// Takes one opening, if there is one.
    ///
    /// - Parameter now: Nanoseconds of a clock that only goes on; `nil`: nobody is limited, as with the operator's own files.
    mutating func take(now: Int64?) -> Bool {
        guard let now else { return true }
        var budget = self.budget ?? RateBudget(Self.rate, now: now)
        defer { self.budget = budget }
        return budget.take(now: now)
    }
}
