import WebRTC

/// Which instant of the program is now, and its wall-clock time: what sender reports say.
///
/// Audio and video of a program have one time line, so they stay in sync whatever this estimates.
package struct ProgramClock: Sendable {
    /// A time line that differs by more than this from the estimate has been set anew, in nanoseconds.
    private static let jump: Int64 = 10_000_000_000

    /// Monotonic time minus program time of the packet that arrived with the least delay so far; nil before the first.
    private var offset: Int64?
    /// Nanoseconds since 1970 at monotonic time 0.
    private let epoch: Int64

    /// - Parameters:
    ///   - now: Monotonic time in nanoseconds.
    ///   - wallClock: The same instant in nanoseconds since 1970.
    package init(now: Int64, wallClock: Int64) { self.epoch = wallClock &- now }

    /// A packet with this program time in nanoseconds has arrived.
    package mutating func received(_ time: Int64, now: Int64) {
        let offset = now &- time
        guard let known = self.offset, offset &- known <= Self.jump else {
            self.offset = offset
            return
        }
        self.offset = min(known, offset)
    }

    /// The program time in nanoseconds; nil before the first packet.
    package func time(now: Int64) -> Int64? { self.offset.map { now &- $0 } }

    /// The wall-clock time at the monotonic time `now`, as an NTP time stamp.
    package func ntp(now: Int64) -> UInt64 { NTPTime.timestamp(self.epoch &+ now &+ Self.unixEpoch) }

    /// Nanoseconds from 1900 to 1970.
    private static let unixEpoch: Int64 = 2_208_988_800_000_000_000
}
