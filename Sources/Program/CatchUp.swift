/// Whether the tick loop is making up ticks that were missed because the whole machine or process stood still.
///
/// States: in time → catching up (over a second behind) → in time (a tenth of a second behind, or given up). While catching
/// up the program waits for the ladder instead of losing ticks: encoders are faster than time, so the wait has an end,
/// and until then every output slot is filled. A ladder that is too slow for the room is no reason to wait.
package struct CatchUp: Sendable {
    /// Behind by more than this the loop did not just oversleep.
    static let begins: Int64 = 1_000_000_000
    static let ends: Int64 = 100_000_000
    /// Encoders that need longer than this for each second that is missing are too slow anyway.
    private static let factor: Int64 = 3
    private static let least: Int64 = 10_000_000_000

    package private(set) var isActive = false
    private var giveUpAt: Int64 = 0
    private var hasGivenUp = false

    package init() {}

    /// Notes how far a tick is behind.
    ///
    /// - Returns: Whether ``isActive`` has changed.
    package mutating func noted(lag: Int64, at now: Int64) -> Bool {
        let was = self.isActive
        if lag < Self.ends {
            self.isActive = false
            self.hasGivenUp = false
        } else if self.isActive, now > self.giveUpAt {
            self.isActive = false
            self.hasGivenUp = true
        } else if lag > Self.begins, !self.isActive, !self.hasGivenUp {
            self.isActive = true
            self.giveUpAt = now &+ lag &* Self.factor &+ Self.least
        }
        return self.isActive != was
    }
}
