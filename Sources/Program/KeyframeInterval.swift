/// Tracks the key frame interval of a source, from its last two key frames.
struct KeyframeInterval: Sendable, Equatable {
    /// The longest key frame interval, in nanoseconds, at which a source may wait for its next key frame.
    static let longest: Int64 = 4_000_000_000

    private var last: Int64?
    private var interval: Int64?

    /// Records a key frame.
    ///
    /// - Parameter time: Program time of the key frame, in nanoseconds.
    mutating func note(_ time: Int64) {
        self.interval = self.last.map { time &- $0 }
        self.last = time
    }

    /// Whether waiting for the next key frame is acceptable: the interval is at most ``longest``, and the next key
    /// frame is not overdue by more than half an interval.
    func isRegular(at time: Int64) -> Bool {
        guard let last = self.last, let interval = self.interval else { return false }
        return (1...Self.longest).contains(interval) && time &- last <= interval &* 3 / 2
    }

    /// Whether another key frame cannot be expected: there were not two with increasing times yet, or the next one is
    /// overdue by more than half an interval.
    func isOverdue(at time: Int64) -> Bool {
        guard let last = self.last, let interval = self.interval, interval > 0 else { return true }
        return time &- last > interval &* 3 / 2
    }
}
