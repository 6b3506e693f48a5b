import MediaTypes

/// Limits the frame rate of a source to what the program needs: frames of a faster source are dropped evenly.
package struct FrameRateLimiter: Sendable {
    /// Nanoseconds between two frames at the highest rate.
    private let interval: Int64
    private var next: Int64?

    /// Creates a limiter.
    ///
    /// - Parameter fps: Maximum frames per second, above 0.
    package init(fps: Int) { self.interval = TimeMath.nanoseconds / Int64(max(1, fps)) }

    /// Returns whether the frame for program time `time` (nanoseconds) is kept; otherwise it must be dropped.
    package mutating func passes(_ time: Int64) -> Bool {
        // A quarter of an interval early is the jitter of millisecond timestamps. A frame far from the grid starts a
        // new grid.
        guard let next, (time &- next).magnitude < UInt64(self.interval) * 4 else {
            self.next = time &+ self.interval
            return true
        }
        guard time &+ self.interval / 4 >= next else { return false }
        self.next = max(next, time &- self.interval / 4) &+ self.interval
        return true
    }
}
