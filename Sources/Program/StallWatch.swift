/// Notices that a publisher which is still connected sends nothing.
///
/// States: quiet (no publication) → flowing (a packet came) → stalled (none for the time given) → flowing.
package struct StallWatch: Sendable {
    /// A watcher that was not asked for this long was stopped itself, with the whole process: nothing can be said about
    /// the publisher until it has had its time again.
    private static let absence: Int64 = 500_000_000

    private let stall: Int64
    private var last: Int64?
    private var asked: Int64?
    private var isStalled = false

    /// - Parameter stall: Nanoseconds without a packet.
    package init(stall: Int64) { self.stall = stall }

    /// - Returns: `true` when this ends a stall.
    package mutating func packetCame(at arrival: Int64) -> Bool {
        self.last = max(arrival, self.last ?? arrival)
        defer { self.isStalled = false }
        return self.isStalled
    }

    /// - Returns: `true` once, when the time has passed.
    package mutating func isStalled(at now: Int64) -> Bool {
        defer { self.asked = now }
        guard let last = self.last, !self.isStalled else { return false }
        if let asked, now &- asked > Self.absence { self.last = now }
        guard now &- max(last, self.last ?? last) > self.stall else { return false }
        self.isStalled = true
        return true
    }

    /// The publication is over.
    package mutating func reset() { self = StallWatch(stall: self.stall) }
}
