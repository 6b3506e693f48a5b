import MediaTypes

/// Measures the peak segment bit rate as HLS defines it: the highest rate of any contiguous run of segments whose
/// length is between 0.5 target durations and 1.5 target durations plus half a second.
///
/// Spec: rfc8216bis §4.1.
package struct BandwidthMeter: Sendable {
    private let shortest: Int64
    private let longest: Int64
    private var recent: [(nanoseconds: Int64, bytes: Int64)] = []
    private var totalNanoseconds: Int64 = 0
    private var totalBytes: Int64 = 0
    /// Peak segment bit rate in bits per second, rounded up; 0 until a run of segments is long enough to count.
    package private(set) var peak: Int64 = 0

    /// Makes a meter without segments.
    ///
    /// - Parameter targetDuration: Target duration in whole seconds.
    package init(targetDuration: Int) {
        self.shortest = Int64(targetDuration) * TimeMath.nanoseconds / 2
        self.longest = self.shortest * 3 + TimeMath.nanoseconds / 2
    }

    /// Average bit rate of all segments so far in bits per second, rounded up.
    package var average: Int64 { Self.rate(bytes: self.totalBytes, nanoseconds: self.totalNanoseconds) }

    /// Adds the next segment. Call ``breakRun()`` instead for a gap.
    ///
    /// - Parameter byteCount: Size of the segment's file in bytes, without HTTP headers.
    package mutating func append(duration: MediaDuration, byteCount: Int) {
        let nanoseconds = max(0, duration.nanoseconds)
        self.totalNanoseconds &+= nanoseconds
        self.totalBytes &+= Int64(byteCount)
        self.recent.append((nanoseconds, Int64(byteCount)))
        // Every run of segments ends at some segment, so the runs that end at this one are measured.
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
