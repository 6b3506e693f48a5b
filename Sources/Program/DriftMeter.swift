/// How much faster or slower than the machine's clock a publisher's runs, from its delays.
///
/// Each five seconds give one point, the least delay in them; the estimate is the median of the slopes between all pairs
/// of points (Theil–Sen), which a few congested spells do not move.
struct DriftMeter: Sendable {
    /// Nanoseconds that give one point.
    static let span: Int64 = 5_000_000_000
    /// Points kept: 5 minutes.
    static let pointLimit = 60
    /// Points needed for an estimate: less than half a minute is noise.
    static let pointsNeeded = 6
    /// What no crystal is off by: more is a fault of the timestamps.
    static let plausible = 100_000.0

    private var points: [(time: Int64, delay: Int64)] = []
    private var open: (start: Int64, time: Int64, delay: Int64)?
    /// Parts per million; positive: the publisher's clock is fast. Stays until there is a better one.
    private(set) var ppm: Double?

    mutating func note(delay: Int64, at arrival: Int64) {
        guard var open = self.open else {
            self.open = (arrival, arrival, delay)
            return
        }
        if arrival &- open.start >= Self.span {
            self.points.append((open.time, open.delay))
            if self.points.count > Self.pointLimit { self.points.removeFirst() }
            self.estimate()
            self.open = (arrival, arrival, delay)
            return
        }
        if delay < open.delay { open = (open.start, arrival, delay) }
        self.open = open
    }

    /// The delays to come cannot be compared with those before.
    mutating func restart() {
        self.points = []
        self.open = nil
    }

    /// The publisher is gone, its clock with it.
    mutating func reset() { self = DriftMeter() }

    private mutating func estimate() {
        guard self.points.count >= Self.pointsNeeded else { return }
        var slopes: [Double] = []
        slopes.reserveCapacity(self.points.count * (self.points.count - 1) / 2)
        for (index, from) in self.points.enumerated() {
            for to in self.points[(index + 1)...] where to.time > from.time {
                slopes.append(Double(to.delay &- from.delay) / Double(to.time &- from.time))
            }
        }
        guard !slopes.isEmpty else { return }
        slopes.sort()
        // A fast clock's timestamps outrun the arrivals: its delays fall.
        self.ppm = max(-Self.plausible, min(Self.plausible, slopes[slopes.count / 2] * -1e6))
    }
}
