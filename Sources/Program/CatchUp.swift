/// Detects that the tick loop must make up for missed ticks, for example because the machine or the process was suspended.
///
/// States: on time → catching up (more than 1 s late) → on time (less than 100 ms late, or given up). While catching
/// up, the program waits for the encoders instead of losing ticks: encoders run faster than real time, so the wait
/// ends, and no output frame is missing. If the encoders are too slow for the room, waiting would not help, so the
/// program gives up after a while.
package struct CatchUp: Sendable {
    /// Lateness in nanoseconds above which catching up begins: 1 s, which ordinary scheduling delays do not reach.
    static let begins: Int64 = 1_000_000_000
    /// Lateness in nanoseconds below which catching up ends: 100 ms.
    static let ends: Int64 = 100_000_000
    /// The program gives up after this many seconds for each second it was late, plus ``least``: encoders that need
    /// longer are too slow for the room.
    private static let factor: Int64 = 3
    /// Minimum time until the program gives up, in nanoseconds: 10 s.
    private static let least: Int64 = 10_000_000_000

    package private(set) var isActive = false
    private var giveUpAt: Int64 = 0
    private var hasGivenUp = false

    package init() {}

    /// Records how late a tick is, in nanoseconds.
    ///
    /// - Returns: Whether ``isActive`` changed.
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
