/// The delays (arrival minus timestamp) of one track over the last half minute, in buckets of a second.
///
/// The smallest delay is what the way costs without queues: noise of a network only ever adds to it.
struct DelayWindow: Sendable {
    private struct Bucket: Sendable {
        /// Long before any window: nothing is in it.
        var second: Int64 = -1_000_000
        var least: Int64 = 0
        var most: Int64 = 0
    }

    /// Seconds over which the floor is taken: long enough for a quiet moment on a busy network, short enough to follow
    /// ±500 ppm within 5 ms.
    static let floorSeconds: Int64 = 10
    /// Seconds over which the spread is taken.
    static let spreadSeconds: Int64 = 30
    private static let second: Int64 = 1_000_000_000

    /// Each second in its place, modulo their number: with every packet the window is copied with its track.
    private var buckets = InlineArray<30, Bucket>(repeating: Bucket())
    private var now: Int64 = 0
    /// The floor of the last ``floorSeconds`` with packets in them; `nil` before the first.
    private(set) var floor: Int64?

    mutating func insert(_ delay: Int64, at arrival: Int64) {
        // Arrivals come from one clock that never goes back; anything else is counted where the window is.
        let second = max(self.now, arrival / Self.second)
        self.now = second
        let place = Int(second % Self.spreadSeconds)
        if self.buckets[place].second == second {
            self.buckets[place].least = min(self.buckets[place].least, delay)
            self.buckets[place].most = max(self.buckets[place].most, delay)
        } else {
            self.buckets[place] = Bucket(second: second, least: delay, most: delay)
        }
        var floor = delay
        for index in self.buckets.indices where second &- self.buckets[index].second < Self.floorSeconds {
            floor = min(floor, self.buckets[index].least)
        }
        self.floor = floor
    }

    /// Largest minus smallest delay of the last seconds before a time, ``spreadSeconds`` at most. A track that sends no more
    /// has none: what it did before must not count for ever.
    func spread(over seconds: Int64, at arrival: Int64) -> Int64 {
        var (least, most) = (Int64.max, Int64.min)
        let now = max(self.now, arrival / Self.second)
        for index in self.buckets.indices where now &- self.buckets[index].second < min(seconds, Self.spreadSeconds) {
            least = min(least, self.buckets[index].least)
            most = max(most, self.buckets[index].most)
        }
        return least <= most ? most &- least : 0
    }

    /// Forgets all delays but the one that is known to hold from now on.
    mutating func restart(at floor: Int64?) {
        self.buckets = InlineArray(repeating: Bucket())
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
