/// The delays (arrival minus timestamp) of one track over the last 30 seconds, in buckets of one second.
///
/// The smallest delay is the transmission time without queues: network jitter only ever adds to it.
struct DelayWindow: Sendable {
    private struct Bucket: Sendable {
        /// Second that the bucket describes. Initially long before any window, so that an unused bucket never counts.
        var second: Int64 = -1_000_000
        var least: Int64 = 0
        var most: Int64 = 0
    }

    /// Seconds over which the floor (smallest delay) is taken: long enough to include a quiet moment of a busy network,
    /// short enough to follow a clock drift of ±500 ppm within 5 ms.
    static let floorSeconds: Int64 = 10
    /// Seconds over which the spread (largest minus smallest delay) is taken.
    static let spreadSeconds: Int64 = 30
    private static let second: Int64 = 1_000_000_000

    /// Bucket of each second, at index second modulo 30. Stored inline because the window is copied with its track for
    /// every packet.
    private var buckets = InlineArray<30, Bucket>(repeating: Bucket())
    private var now: Int64 = 0
    /// Smallest delay in the last ``floorSeconds``; `nil` before the first packet.
    private(set) var floor: Int64?

    mutating func insert(_ delay: Int64, at arrival: Int64) {
        // Arrivals come from one monotonic clock; an earlier arrival is counted in the current second.
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

    /// Largest minus smallest delay in the given number of seconds before `arrival`, at most ``spreadSeconds``. 0 if
    /// the track sent nothing in that time, so that old values do not count forever.
    func spread(over seconds: Int64, at arrival: Int64) -> Int64 {
        var (least, most) = (Int64.max, Int64.min)
        let now = max(self.now, arrival / Self.second)
        for index in self.buckets.indices where now &- self.buckets[index].second < min(seconds, Self.spreadSeconds) {
            least = min(least, self.buckets[index].least)
            most = max(most, self.buckets[index].most)
        }
        return least <= most ? most &- least : 0
    }

    /// Forgets all delays and sets the floor to a known value; `nil`: unknown until the next packet.
    mutating func restart(at floor: Int64?) {
        self.buckets = InlineArray(repeating: Bucket())
        self.floor = floor
    }

    /// Shifts all delays after the track's timestamps were shifted.
    mutating func shift(by shift: Int64) {
        for index in self.buckets.indices {
            self.buckets[index].least &+= shift
            self.buckets[index].most &+= shift
        }
        if let floor { self.floor = floor &+ shift }
    }
}
