import MediaTypes

/// The bit rates a track declares while they change: never less than those of any segment it lists.
///
/// Spec: rfc8216bis §4.4.6.2: `BANDWIDTH` bounds every segment of every playlist.
struct DeclaredRateHistory: Sendable {
    /// Segments that may still have the previous rates: one waiting for the store, one in progress, and those in the
    /// encoders' lookahead.
    private static let underWay: Int64 = 4

    private var now: BitRates
    private var before: [(rates: BitRates, last: Int64)] = []
    /// Upper bound of all rates so far, listed or not.
    private(set) var highest: BitRates

    init(_ rates: BitRates) { (self.now, self.highest) = (rates, rates) }

    var bound: BitRates { self.before.reduce(self.now) { $0.bounding($1.rates) } }

    /// - Parameter next: Media sequence number of the next segment that is listed.
    mutating func change(to rates: BitRates, at next: Int64) {
        let last = next + Self.underWay
        if let newest = self.before.last, newest.last == last {
            // Several changes within one segment count as one.
            self.before[self.before.count - 1].rates = newest.rates.bounding(self.now)
        } else {
            self.before.append((self.now, last))
        }
        self.now = rates
        self.highest = self.highest.bounding(rates)
    }

    /// - Parameter first: Media sequence number of the first segment that is listed.
    /// - Returns: Whether an entry was removed.
    mutating func forget(before first: Int64) -> Bool {
        let count = self.before.count
        self.before.removeAll { $0.last < first }
        return self.before.count != count
    }
}
