package import MediaTypes

/// Limits the reports of failures that recur with every segment, for instance while a disk is missing. The first
/// failure of each kind is reported at once, later ones at most every ten seconds. Pure.
package struct RepeatedFailures: Sendable {
    /// Least time between two reports of the same kind of failure, in nanoseconds.
    package static let interval = 10 * TimeMath.nanoseconds

    private var told: [MediaError.Code: (at: Int64, withheld: Int)] = [:]

    package init() {}

    /// Records a failure and decides whether to report it.
    ///
    /// - Parameter now: Monotonic time in nanoseconds.
    /// - Returns: If this failure must be reported: the number of failures of this kind since the last report; otherwise nil.
    package mutating func tells(_ code: MediaError.Code, at now: Int64) -> Int? {
        if let before = self.told[code], now &- before.at < Self.interval {
            self.told[code] = (before.at, before.withheld + 1)
            return nil
        }
        defer { self.told[code] = (now, 0) }
        return self.told[code]?.withheld ?? 0
    }
}
