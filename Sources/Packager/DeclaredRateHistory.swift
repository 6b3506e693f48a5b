import MediaTypes

/// The bit rates that a track declares while its encoder settings change: an upper bound for all segments that its
/// playlist still lists.
struct DeclaredRateHistory: Sendable {
    /// Distance from the next segment to be listed to the last one that may still have the previous bit rates: segments
    /// may wait for the store, be in progress, or be in the encoders' lookahead.
    private static let underWay: Int64 = 4

    private var now: BitRates
    private var before: [(rates: BitRates, last: Int64)] = []
    /// Upper bound of all bit rates so far, including those of segments that are no longer listed.
    private(set) var highest: BitRates

    init(_ rates: BitRates) { (self.now, self.highest) = (rates, rates) }

    /// Upper bound of the bit rates of all listed segments: the rates to declare.
    var bound: BitRates { self.before.reduce(self.now) { $0.bounding($1.rates) } }

    /// Changes the track's bit rates from about the next segment on.
    ///
    /// - Parameter next: Media sequence number of the next segment to be listed.
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

    /// Removes the bit rates of segments that are no longer listed.
    ///
    /// - Parameter first: Media sequence number of the first listed segment.
    /// - Returns: Whether rates were removed, so that ``bound`` may be lower.
    mutating func forget(before first: Int64) -> Bool {
        let count = self.before.count
        self.before.removeAll { $0.last < first }
        return self.before.count != count
    }
}
