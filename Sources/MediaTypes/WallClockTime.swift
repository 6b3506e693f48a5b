/// What a publisher says the time of day was when a picture or a sound of its was taken.
public struct WallClockTime: Sendable, Hashable {
    /// Zones differ by multiples of this: 15 minutes, in nanoseconds.
    private static let zoneStep: Int64 = 900_000_000_000

    /// Nanoseconds since 1970-01-01T00:00:00Z; without a zone, nanoseconds since midnight of wherever the publisher is.
    public var nanoseconds: Int64
    /// `false` for a clock on somebody's wall: its day and zone are not known.
    public var hasZone: Bool

    public init(nanoseconds: Int64, hasZone: Bool) {
        self.nanoseconds = nanoseconds
        self.hasZone = hasZone
    }

    /// Milliseconds since the Unix epoch, as scripts and metadata write them.
    ///
    /// - Returns: `nil` for what is no time between 2001 and 2286: those have 13 digits.
    public init?(milliseconds: Double) {
        guard milliseconds >= 1e12, milliseconds < 1e13 else { return nil }
        self.init(nanoseconds: Int64(milliseconds * 1000) &* 1000, hasZone: true)
    }

    /// Nanoseconds since the Unix epoch. A time without zone is taken in the zone in which it is nearest to `reference`.
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
