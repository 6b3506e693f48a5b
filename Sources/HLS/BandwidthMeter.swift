import MediaTypes

/// Measures the peak segment bit rate by its definition: the highest rate of any contiguous run of segments whose length
/// is between half the target duration and one and a half of it plus half a second.
///
/// Spec: rfc8216bis §4.1.
package struct BandwidthMeter: Sendable {
    private let shortest: Int64
    private let longest: Int64
    private var recent: [(nanoseconds: Int64, bytes: Int64)] = []
    private var totalNanoseconds: Int64 = 0
    private var totalBytes: Int64 = 0
    /// Bits per second, rounded up; 0 until a run is long enough to count.
    package private(set) var peak: Int64 = 0

    /// - Parameter targetDuration: Whole seconds.
    package init(targetDuration: Int) {
        self.shortest = Int64(targetDuration) * TimeMath.nanoseconds / 2
        self.longest = self.shortest * 3 + TimeMath.nanoseconds / 2
    }

    /// Bits per second over all segments so far, rounded up.
    package var average: Int64 { Self.rate(bytes: self.totalBytes, nanoseconds: self.totalNanoseconds) }

    /// Adds the next segment. Call ``breakRun()`` instead for a gap.
    ///
    /// - Parameter byteCount: Size with the container's overhead, without HTTP headers.
    package mutating func append(duration: MediaDuration, byteCount: Int) {
        let nanoseconds = max(0, duration.nanoseconds)
        self.totalNanoseconds &+= nanoseconds
        self.totalBytes &+= Int64(byteCount)
        self.recent.append((nanoseconds, Int64(byteCount)))
        // Every run ends at some segment: look at all runs that end at this one.
        var length: Int64 = 0
        var bytes: Int64 = 0
        var kept = 0
        for entry in self.recent.reversed() {
            length += entry.nanoseconds
            bytes += entry.bytes
            guard length <= self.longest else { break }
            kept += 1
            if length >= self.shortest { self.peak = max(self.peak, Self.rate(bytes: bytes, nanoseconds: length)) }
        }
        self.recent.removeFirst(self.recent.count - kept)
    }

    /// Starts a new run after a gap: runs across a missing segment do not count.
    package mutating func breakRun() { self.recent.removeAll() }

    private static func rate(bytes: Int64, nanoseconds: Int64) -> Int64 {
        guard nanoseconds > 0 else { return 0 }
        return TimeMath.scale(bytes, by: 8 * TimeMath.nanoseconds, over: nanoseconds, rounding: .up)
    }
}
