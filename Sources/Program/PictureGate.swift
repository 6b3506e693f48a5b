import MediaTypes

/// Lets through as many pictures a second as the program has a use for; from a faster source every nth passes.
package struct PictureGate: Sendable {
    /// Nanoseconds between two pictures at the highest rate.
    private let interval: Int64
    private var next: Int64?

    /// - Parameter fps: Pictures a second that pass at most, above 0.
    package init(fps: Int) { self.interval = TimeMath.nanoseconds / Int64(max(1, fps)) }

    /// Whether the picture for `time` passes.
    package mutating func passes(_ time: Int64) -> Bool {
        // A quarter of an interval early is the jitter of whole milliseconds; far from the grid it is a new one.
        guard let next, (time &- next).magnitude < UInt64(self.interval) * 4 else {
            self.next = time &+ self.interval
            return true
        }
        guard time &+ self.interval / 4 >= next else { return false }
        self.next = max(next, time &- self.interval / 4) &+ self.interval
        return true
    }
}
