/// How long each picture of a source took to decode, as a histogram over powers of two: 24 octaves in quarters, so that it is
/// small and bounded whatever happens, and no figure is more than a quarter too high.
package struct DecodeTimes: Sendable, Equatable {
    /// A microsecond, and what is shorter, is the first class; 16 s, and what is longer, the last.
    private static let octaves = 24

    private var counts = [UInt32](repeating: 0, count: 4 * octaves)
    /// How many were noted.
    package private(set) var count: UInt64 = 0

    package init() {}

    /// - Parameter nanoseconds: From the packet's being handed to the decoder to its return; others may have run meanwhile.
    package mutating func note(_ nanoseconds: Int64) {
        self.count &+= 1
        let index = Self.index(microseconds: nanoseconds / 1_000)
        // A histogram that is full keeps its shape.
        if self.counts[index] == .max { for other in self.counts.indices { self.counts[other] /= 2 } }
        self.counts[index] += 1
    }

    /// The time that so many of a thousand did not exceed, in microseconds; `nil` before the first.
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
        // The two bits under the highest one; below four microseconds there are not two.
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
