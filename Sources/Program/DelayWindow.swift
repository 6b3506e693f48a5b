/// The delays (arrival minus timestamp) of one track over the last half minute, in buckets of a second.
///
/// The smallest delay is what the way costs without queues: noise of a network only ever adds to it.
struct DelayWindow: Sendable {
    private struct Bucket: Sendable {
        var second: Int64
        var least: Int64
        var most: Int64
    }

    /// Seconds over which the floor is taken: long enough for a quiet moment on a busy network, short enough to follow
    /// ±500 ppm within 5 ms.
    static let floorSeconds: Int64 = 10
    /// Seconds over which the spread is taken.
    static let spreadSeconds: Int64 = 30
    private static let second: Int64 = 1_000_000_000

    private var buckets: [Bucket] = []
    private var now: Int64 = 0
    /// The floor of the last ``floorSeconds`` with packets in them; `nil` before the first.
    private(set) var floor: Int64?

    mutating func insert(_ delay: Int64, at arrival: Int64) {
        // Arrivals come from one clock that never goes back; anything else is counted where the window is.
        let second = max(self.now, arrival / Self.second)
        self.now = second
        if let last = self.buckets.indices.last, self.buckets[last].second == second {
            self.buckets[last].least = min(self.buckets[last].least, delay)
            self.buckets[last].most = max(self.buckets[last].most, delay)
        } else {
            self.buckets.append(Bucket(second: second, least: delay, most: delay))
            self.buckets.removeAll { second &- $0.second >= Self.spreadSeconds }
        }
        self.floor = self.buckets.lazy.filter { second &- $0.second < Self.floorSeconds }.map(\.least).min() ?? delay
    }

    /// Largest minus smallest delay of the last ``spreadSeconds``.
    var spread: Int64 {
        guard let most = self.buckets.map(\.most).max(), let least = self.buckets.map(\.least).min() else { return 0 }
        return most &- least
    }

    /// Forgets all delays but the one that is known to hold from now on.
    mutating func restart(at floor: Int64?) {
        self.buckets = []
        self.floor = floor
    }

    /// The track's timestamps were shifted: all its delays with them.
    mutating func shift(by shift: Int64) {
        for index in self.buckets.indices {
            self.buckets[index].least &+= shift
            self.buckets[index].most &+= shift
        }
        if let floor { self.floor = floor &+ shift }
    }
}
