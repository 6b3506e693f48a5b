/// When the messages of one read came, of a source that is read by the clock.
///
/// They are read at one moment, up to a quarter of a second after they came. Each of them came after the read before, and its
/// publisher sent them as far apart as their timestamps say. So the newest is taken for one that came just now, and each other
/// one for as much earlier as it is older. To take all of them for what came just now would make a burst of an even stream:
/// packets too late for the jitter buffer, and gaps between them.
///
/// Pure. Invariants: what is said (1) never goes back, (2) is never before the last time that the socket was looked at, and
/// never after the read.
package struct ArrivalEstimate: Sendable {
    /// Nothing that is still to be read came before this, in nanoseconds.
    private var since: Int64

    /// - Parameter now: Nanoseconds, as of all that follows.
    package init(now: Int64) { self.since = now }

    /// All that came before `now` has been read.
    package mutating func looked(at now: Int64) { self.since = max(self.since, now) }

    /// When the next message came, of those that were read at `now`. Asked once for each, in order.
    ///
    /// - Parameters:
    ///   - timestamp: Of the message, milliseconds modulo 2³².
    ///   - newest: The greatest timestamp of that read.
    package mutating func arrival(of timestamp: UInt32, newest: UInt32, read now: Int64) -> Int64 {
        let older = max(0, Int64(Int32(bitPattern: newest &- timestamp)))
        self.since = max(self.since, now &- older &* 1_000_000)
        return self.since
    }

    /// The greater of two timestamps: RFC 1982.
    package static func newer(_ one: UInt32, _ other: UInt32) -> UInt32 {
        Int32(bitPattern: other &- one) > 0 ? other : one
    }
}
