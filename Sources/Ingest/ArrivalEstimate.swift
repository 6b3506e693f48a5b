/// Estimates the arrival time of each message of one read, for a source whose socket is read on a timer.
///
/// The timer reads the socket up to a quarter of a second after the messages arrived. All of them arrived after the
/// previous read, and the publisher sent them as far apart as their timestamps say. So the newest message is assumed to
/// have arrived now, and every other one earlier by the difference of their timestamps. If all were stamped with the
/// time of the read, a steady stream would look like a burst: packets too late for the jitter buffer, and gaps between
/// them.
///
/// Pure. Invariants: an estimate (1) never goes back, (2) is never before the previous read of the socket and never
/// after the current one.
package struct ArrivalEstimate: Sendable {
    /// Everything that arrived before this time has been read, in nanoseconds.
    private var since: Int64

    /// Creates an estimate for a socket that has been read completely at `now`.
    ///
    /// - Parameter now: Nanoseconds of the clock that all later calls use.
    package init(now: Int64) { self.since = now }

    /// Records that everything that arrived before `now` has been read.
    package mutating func looked(at now: Int64) { self.since = max(self.since, now) }

    /// Returns the estimated arrival time, in nanoseconds, of the next message of a read made at `now`. Call it once
    /// per message, in order.
    ///
    /// - Parameters:
    ///   - timestamp: Timestamp of the message, in milliseconds modulo 2³².
    ///   - newest: The greatest timestamp among the messages of the same read.
    package mutating func arrival(of timestamp: UInt32, newest: UInt32, read now: Int64) -> Int64 {
        let older = max(0, Int64(Int32(bitPattern: newest &- timestamp)))
        self.since = max(self.since, now &- older &* 1_000_000)
        return self.since
    }

    /// Returns the later of two timestamps, by the serial number arithmetic of RFC 1982.
    package static func newer(_ one: UInt32, _ other: UInt32) -> UInt32 {
        Int32(bitPattern: other &- one) > 0 ? other : one
    }
}
