/// Since when a source's packets are due when they are due: a timeline that moves, or has settled, makes some of them due in the
/// past at once, and that is no lateness of the thread that decodes them. Nor is it while the thread works that off, for as long as a
/// machine that can keep up may need: a publisher who sends faster than time is brought back by seconds of pictures at once, and a
/// room that took that for overload would show nobody's pictures evenly.
package struct Placing: Sendable, Equatable {
    private var isSettling = true
    private var reanchors = 0
    private var offset: Int64 = 0
    /// Nanoseconds on the program.
    private var since = Int64.min
    /// What was made due at once is not all decoded yet.
    private var isWorkingOff = false
    /// Nanoseconds in which it is, unless the machine cannot keep up.
    private static let patience: Int64 = 1_000_000_000

    package init() {}

    /// What packets' times follow from, as it is at `now`.
    package mutating func note(isSettling: Bool, reanchors: Int, offset: Int64, at now: Int64) {
        guard isSettling != self.isSettling || reanchors != self.reanchors || offset != self.offset else { return }
        (self.isSettling, self.reanchors, self.offset) = (isSettling, reanchors, offset)
        self.since = now
        self.isWorkingOff = true
    }

    /// Nothing is due.
    package mutating func caughtUp() { self.isWorkingOff = false }

    /// How long a packet that is decoded now could have been decoded before, in nanoseconds.
    package func lateness(due: Int64, arrival: Int64?, now: Int64) -> Int64 {
        if self.isWorkingOff, now &- self.since < Self.patience { return 0 }
        return now &- max(due, arrival ?? now, self.since)
    }
}
