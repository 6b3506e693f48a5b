package import MediaTypes

/// Failures that come again with every segment, as of a disk that is away: the first of a kind is told at once, then one in ten
/// seconds. Pure.
package struct RepeatedFailures: Sendable {
    /// From one that is told to the next of its kind, in nanoseconds.
    package static let interval = 10 * TimeMath.nanoseconds

    private var told: [MediaError.Code: (at: Int64, withheld: Int)] = [:]

    package init() {}

    /// - Parameter now: Of a monotonic clock, in nanoseconds.
    /// - Returns: How many of the kind were not told since the last one that was; `nil`: nor is this one.
    package mutating func tells(_ code: MediaError.Code, at now: Int64) -> Int? {
        if let before = self.told[code], now &- before.at < Self.interval {
            self.told[code] = (before.at, before.withheld + 1)
            return nil
        }
        defer { self.told[code] = (now, 0) }
        return self.told[code]?.withheld ?? 0
    }
}
