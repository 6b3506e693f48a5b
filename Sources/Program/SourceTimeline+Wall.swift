package import MediaTypes

/// Alignment of sources that send wall-clock time.
extension SourceTimeline {
    /// Records a wall-clock stamp from the publisher.
    ///
    /// - Parameters:
    ///   - stamp: The stamp.
    ///   - time: Time of the stamped frame, on the source's time (``SourceTimes/pts``).
    ///   - server: The server's time at arrival, in nanoseconds since the Unix epoch.
    package mutating func note(_ stamp: WallClockTime, of time: Int64, server: Int64) {
        self.wall.meter.note(stamp, at: time, server: server)
    }

    /// Time from an event to its display without alignment, in nanoseconds, plus a constant that is the same for all
    /// sources of the room; `nil` if the source's wall-clock time is unknown.
    package var wallDelay: Int64? {
        guard let natural = self.natural, let offset = self.wall.meter.offset else { return nil }
        return natural &- offset
    }

    /// How much later than its buffer and its alignment require the source is shown, in nanoseconds; 0 if that is going
    /// to be corrected in one step instead of gliding.
    package var wallHeld: Int64 {
        let excess = self.excess ?? 0
        return self.isSettling || excess > Self.heldLimit ? 0 : max(0, excess)
    }

    /// Maximum delay that alignment may add to the source, in nanoseconds.
    package var wallReach: Int64 { self.maxJitterBuffer &- self.depth }

    /// Delay that alignment adds to the source, in nanoseconds.
    package var wallExtra: Int64 { self.wall.extra }

    /// Whether the source is aligned with others by wall-clock time.
    package var isWallAligned: Bool { self.wall.isAligned }

    /// Applies the extra delay computed by ``WallAlignment/extra(of:at:)``.
    package mutating func follow(_ extra: Int64?, at arrival: Int64) {
        guard self.wall.follow(extra, at: arrival, isFree: !self.isShown), let natural = self.natural else { return }
        self.reanchor(to: natural &+ self.wall.extra, for: .wall)
    }
}
