/// Histogram of the decoding times of a source's frames, over powers of two: 24 octaves in quarters. It has a fixed,
/// small size, and the values read from it are at most a quarter too high (times of 14.7 s or more count as 16.8 s).
package struct DecodeTimeHistogram: Sendable, Equatable {
    /// The first class is up to 1 µs, the last is from 14.7 s.
    private static let octaves = 24

    private var counts = [UInt32](repeating: 0, count: 4 * octaves)
    /// Number of recorded times.
    package private(set) var count: UInt64 = 0

    package init() {}

    /// Adds the decoding time of one packet.
    ///
    /// - Parameter nanoseconds: Time from passing the packet to the decoder until its frames are converted; includes
    ///   time in which other threads ran.
    package mutating func note(_ nanoseconds: Int64) {
        self.count &+= 1
        let index = Self.index(microseconds: nanoseconds / 1_000)
        // If a class is full, halve all of them, which keeps the shape.
        if self.counts[index] == .max { for other in self.counts.indices { self.counts[other] /= 2 } }
        self.counts[index] += 1
    }

    /// The time that the given share of the frames did not exceed, in microseconds, rounded up to the end of its class;
    /// `nil` before the first frame.
    ///
    /// - Parameter permille: 1…1000.
    package func microseconds(permille: Int) -> Int? {
        let all = self.counts.reduce(UInt64(0)) { $0 + UInt64($1) }
        guard all > 0 else { return nil }
        let wanted = max(1, (all * UInt64(min(max(1, permille), 1000)) + 999) / 1000)
        var seen: UInt64 = 0
        for (index, count) in self.counts.enumerated() {
            seen += UInt64(count)
            if seen >= wanted { return Self.upperBound(of: index) }
        }
        return nil
    }

    private static func index(microseconds: Int64) -> Int {
        guard microseconds > 1 else { return 0 }
        let octave = 63 - microseconds.leadingZeroBitCount
        guard octave < self.octaves else { return 4 * self.octaves - 1 }
        // The two bits below the highest one; values below four microseconds have fewer.
        let quarter =
            octave >= 2 ? Int(microseconds >> Int64(octave - 2)) & 3 : Int(microseconds << Int64(2 - octave)) & 3
        return 4 * octave + quarter
    }

    /// The largest number of whole microseconds in a class.
    private static func upperBound(of index: Int) -> Int {
        let (octave, quarter) = (index / 4, index % 4)
        let next = octave >= 2 ? (5 + quarter) << (octave - 2) : (4 + quarter + (1 << (2 - octave))) >> (2 - octave)
        return max(1, next - 1)
    }
}
