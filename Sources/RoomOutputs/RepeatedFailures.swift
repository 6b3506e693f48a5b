package import MediaTypes

/// Limits the reports of failures that recur with every segment, for instance while a disk is missing: the first
/// failure of each kind is reported at once, then one every ten seconds. Pure.
package struct RepeatedFailures: Sendable {
    /// Time between two reports of the same kind, in nanoseconds.
    package static let interval = 10 * TimeMath.nanoseconds

    private var told: [MediaError.Code: (at: Int64, withheld: Int)] = [:]

    package init() {}

    /// - Parameter now: Nanoseconds of a monotonic clock.
    /// - Returns: How many failures of this kind were not reported since the last report; `nil`: do not report this one
    ///   either.
    package mutating func tells(_ code: MediaError.Code, at now: Int64) -> Int? {
        if let before = self.told[code], now &- before.at < Self.interval {
            self.told[code] = (before.at, before.withheld + 1)
            return nil
        }
        defer { self.told[code] = (now, 0) }
        return self.told[code]?.withheld ?? 0
    }
}
