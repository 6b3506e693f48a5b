/// Estimates from packet delays how much faster or slower a publisher's clock runs than the machine's.
///
/// Each period of five seconds gives one point, its smallest delay. The estimate is the median of the slopes between
/// all pairs of points (Theil–Sen), which a few congested periods do not affect.
struct DriftMeter: Sendable {
    /// Length of the period that gives one point, in nanoseconds.
    static let span: Int64 = 5_000_000_000
    /// Maximum number of points that are kept: those of 5 minutes.
    static let pointLimit = 60
    /// Minimum number of points for an estimate: over less than 30 seconds it would be noise.
    static let pointsNeeded = 6
    /// Limit of the estimate in parts per million. No crystal is that far off; a larger value means wrong timestamps.
    static let plausible = 100_000.0

    private var points: [(time: Int64, delay: Int64)] = []
    private var open: (start: Int64, time: Int64, delay: Int64)?
    /// Estimated drift in parts per million, positive if the publisher's clock is fast; `nil` before the first
    /// estimate.
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

    /// Discards the measured delays after a discontinuity, because later delays cannot be compared with them. The
    /// estimate stays.
    mutating func restart() {
        self.points = []
        self.open = nil
    }

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
        // The timestamps of a fast clock outrun the arrivals, so its delays fall.
        self.ppm = max(-Self.plausible, min(Self.plausible, slopes[slopes.count / 2] * -1e6))
    }
}
