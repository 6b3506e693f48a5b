/// Measures the lateness of a source's packets without counting lateness that the timeline itself caused.
///
/// When a timeline moves or has settled, some packets are suddenly due in the past. This is not the fault of the decode
/// thread, and neither is the time it needs to work these packets off, up to ``patience``. Example: when a publisher
/// that sends faster than real time is corrected, seconds of video are due at once. If the room counted that as
/// overload, it would reduce the video of all sources.
package struct LatenessFilter: Sendable, Equatable {
    private var isSettling = true
    private var reanchors = 0
    private var offset: Int64 = 0
    /// Program time of the last change of the timeline, in nanoseconds.
    private var since = Int64.min
    /// Whether packets that became due at once, through a change of the timeline, are still to be decoded.
    private var isWorkingOff = false
    /// Longest time after a change in which lateness is not counted, in nanoseconds. A machine that needs longer cannot
    /// keep up.
    private static let patience: Int64 = 1_000_000_000

    package init() {}

    /// Records the values that determine packet times, as they are at `now`.
    package mutating func note(isSettling: Bool, reanchors: Int, offset: Int64, at now: Int64) {
        guard isSettling != self.isSettling || reanchors != self.reanchors || offset != self.offset else { return }
        (self.isSettling, self.reanchors, self.offset) = (isSettling, reanchors, offset)
        self.since = now
        self.isWorkingOff = true
    }

    /// Records that no packet is due.
    package mutating func caughtUp() { self.isWorkingOff = false }

    /// Returns how late the decoding of a packet is because of the thread, in nanoseconds: the time since the packet
    /// could have been decoded; 0 while packets are worked off after a change of the timeline.
    package func lateness(due: Int64, arrival: Int64?, now: Int64) -> Int64 {
        if self.isWorkingOff, now &- self.since < Self.patience { return 0 }
        return now &- max(due, arrival ?? now, self.since)
    }
}
