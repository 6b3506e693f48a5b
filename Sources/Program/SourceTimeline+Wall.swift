package import MediaTypes

/// Sources that know the world's time are shown by it, together with the others that do.
extension SourceTimeline {
    /// Takes what the publisher says the time was.
    ///
    /// - Parameters:
    ///   - stamp: What it says.
    ///   - time: Of what was stamped, on the source's time (``Noted/pts``).
    ///   - server: The server's time when it came, in nanoseconds since the Unix epoch.
    package mutating func note(_ stamp: WallClockTime, of time: Int64, server: Int64) {
        self.wall.meter.note(stamp, at: time, server: server)
    }

    /// How long after it happened something is shown, were this the only source; up to a constant. `nil` while the source
    /// does not know the time.
    package var wallDelay: Int64? {
        guard let natural = self.natural, let offset = self.wall.meter.offset else { return nil }
        return natural &- offset
    }

    /// How much later than it would have to be it is shown, as long as that is left to gliding.
    package var wallHeld: Int64 {
        let excess = self.excess ?? 0
        return self.isSettling || excess > Self.heldLimit ? 0 : max(0, excess)
    }

    /// How much later than by itself it may be shown.
    package var wallReach: Int64 { self.maxJitterBuffer &- self.depth }

    /// How much later it is shown than by itself, so that it is aligned with others.
    package var wallExtra: Int64 { self.wall.extra }

    /// It is aligned with other sources by the world's time.
    package var isWallAligned: Bool { self.wall.isAligned }

    /// Follows what ``WallAlignment/extra(of:at:)`` asks for.
    package mutating func follow(_ extra: Int64?, at arrival: Int64) {
        guard self.wall.follow(extra, at: arrival, isFree: !self.isShown), let natural = self.natural else { return }
        self.reanchor(to: natural &+ self.wall.extra, for: .wall)
    }
}
