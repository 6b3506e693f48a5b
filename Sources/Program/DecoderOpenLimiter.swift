import MediaTypes

/// Limits how often a decoder of one track may be opened.
///
/// Opening a decoder costs several hundred times as much as decoding a packet. A publisher that sent a new format with
/// every message would keep the thread and libavcodec's memory busy. An encoder changes its format when the phone is
/// rotated, a call comes in or its connection was bad: rarely, and then a few times in a row.
struct DecoderOpenLimiter {
    /// Sustained openings per second, and the burst that is allowed at once.
    static let rate = (perSecond: Int64(1), burst: Int64(5))

    private var budget: TokenBucket?

    /// Takes one opening from the budget.
    ///
    /// - Parameter now: Nanoseconds of a monotonic clock; `nil`: no limit, as for the operator's own files.
    /// - Returns: `false` if the budget is used up.
    mutating func take(now: Int64?) -> Bool {
        guard let now else { return true }
        var budget = self.budget ?? TokenBucket(Self.rate, now: now)
        defer { self.budget = budget }
        return budget.take(now: now)
    }
}
