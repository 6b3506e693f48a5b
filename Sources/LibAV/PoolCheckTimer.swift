/// Decides when to check whether a decoder or a graph keeps unused memory: about once a minute.
///
/// It uses the time if the caller passes one: a hidden source decodes only key frames, so counting calls would be too
/// slow. Without a time, as in an offline program, it counts the calls.
package struct PoolCheckTimer: Sendable {
    /// Time between two checks, in nanoseconds.
    package static let interval: Int64 = 60_000_000_000

    private let uses: Int
    private var used = 0
    /// Time of the last check, or of the first call; 0: unknown.
    private var since: Int64 = 0

    /// Creates a timer.
    ///
    /// - Parameter uses: Number of calls between two checks if no time is passed, above 0; usually the calls of a
    ///   minute.
    package init(every uses: Int) { self.uses = uses }

    /// Records one use of the decoder or graph.
    ///
    /// - Parameter time: Nanoseconds of a monotonic clock, above 0; 0: unknown.
    /// - Returns: Whether to check now.
    package mutating func isDue(at time: Int64 = 0) -> Bool {
        self.used += 1
        if time > 0 {
            guard self.since > 0, time >= self.since else {
                self.since = time
                return false
            }
            guard time &- self.since >= Self.interval else { return false }
        } else {
            guard self.used >= self.uses else { return false }
        }
        self.since = time
        self.used = 0
        return true
    }
}
