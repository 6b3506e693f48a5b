/// When to look whether a decoder or a graph keeps memory that nobody needs: about a minute after the look before.
///
/// Goes by the time where one is told, since of a source that nobody sees no more than the key pictures are decoded. Without, as in a
/// program of files, it goes by how often the pool was used.
package struct PoolLook: Sendable {
    /// Nanoseconds from one look to the next.
    package static let interval: Int64 = 60_000_000_000

    private let uses: Int
    private var used = 0
    /// Time of the look before, or else of the first use; 0: not known.
    private var since: Int64 = 0

    /// - Parameter uses: From one look to the next where no time is told: a minute of them, above 0.
    package init(every uses: Int) { self.uses = uses }

    /// The pool is used.
    ///
    /// - Parameter time: Nanoseconds of a clock that does not go back, above 0; 0: not known.
    /// - Returns: Whether to look now.
    package mutating func isDue(at time: Int64 = 0) -> Bool {
        self.used += 1
        if time > 0 {
            guard self.since > 0, time >= self.since else {
                self.since = time
                return false
            }
            guard time &- self.since >= Self.interval else { return false }
        } else {
            guard self.used >= self.uses else { return false }
        }
        self.since = time
        self.used = 0
        return true
    }
}
