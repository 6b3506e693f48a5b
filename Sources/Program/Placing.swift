/// Since when a source's packets are due when they are due: a timeline that moves, or has settled, makes some of them due in the
/// past at once, and that is no lateness of the thread that decodes them.
package struct Placing: Sendable, Equatable {
    private var isSettling = true
    private var reanchors = 0
    private var offset: Int64 = 0
    /// Nanoseconds on the program.
    private var since = Int64.min

    package init() {}

    /// What packets' times follow from, as it is at `now`.
    package mutating func note(isSettling: Bool, reanchors: Int, offset: Int64, at now: Int64) {
        guard isSettling != self.isSettling || reanchors != self.reanchors || offset != self.offset else { return }
        (self.isSettling, self.reanchors, self.offset) = (isSettling, reanchors, offset)
        self.since = now
    }

    /// How long a packet that is decoded now could have been decoded before, in nanoseconds.
    package func lateness(due: Int64, arrival: Int64?, now: Int64) -> Int64 {
        now &- max(due, arrival ?? now, self.since)
    }
}
