/// The publisher's time of day when a frame or audio sample was captured.
public struct WallClockTime: Sendable, Hashable {
    /// Time zones differ by multiples of this: 15 minutes, in nanoseconds.
    private static let zoneStep: Int64 = 900_000_000_000

    /// Nanoseconds since 1970-01-01T00:00:00Z if ``hasZone``, otherwise nanoseconds since the publisher's local
    /// midnight.
    public var nanoseconds: Int64
    /// Whether date and time zone are known; `false` if only the local time of day is known.
    public var hasZone: Bool

    public init(nanoseconds: Int64, hasZone: Bool) {
        self.nanoseconds = nanoseconds
        self.hasZone = hasZone
    }

    /// Creates a time from milliseconds since the Unix epoch, the format of scripts and metadata.
    ///
    /// - Returns: `nil` if the value is not a time between 2001 and 2286, which have 13 digits.
    public init?(milliseconds: Double) {
        guard milliseconds >= 1e12, milliseconds < 1e13 else { return nil }
        self.init(nanoseconds: Int64(milliseconds * 1000) &* 1000, hasZone: true)
    }

    /// Returns the nanoseconds since the Unix epoch. A time without time zone is taken in the zone in which it is
    /// nearest to `reference`, so that the result differs from it by 7.5 minutes at most.
    ///
    /// - Parameter reference: The server's own time, in nanoseconds since the Unix epoch.
    public func resolved(near reference: Int64) -> Int64 {
        if self.hasZone { return self.nanoseconds }
        var apart = (self.nanoseconds &- reference) % Self.zoneStep
        if apart > Self.zoneStep / 2 { apart -= Self.zoneStep }
        if apart < -Self.zoneStep / 2 { apart += Self.zoneStep }
        return reference &+ apart
    }
}
