/// Bit rate of a stream over the last second.
package struct RateMeter: Sendable {
    private static let slice: Int64 = 100_000_000
    private static let slices = 10
    /// Bytes of each of the last slices, by slice number modulo their count.
    private var bytes = [Int](repeating: 0, count: Self.slices)
    private var sum = 0
    private var current: Int64 = 0

    package init() {}

    /// - Parameter now: In nanoseconds, not negative.
    package mutating func add(_ count: Int, at now: Int64) {
        self.move(to: now)
        self.bytes[Int(self.current % Int64(Self.slices))] += count
        self.sum += count
    }

    /// The bit rate over the last second, in bits per second.
    package mutating func rate(at now: Int64) -> Int {
        self.move(to: now)
        return self.sum * 8
    }

    private mutating func move(to now: Int64) {
        let slice = max(0, now) / Self.slice
        guard slice > self.current else { return }
        for offset in 1...min(slice - self.current, Int64(Self.slices)) {
            let index = Int((self.current + offset) % Int64(Self.slices))
            self.sum -= self.bytes[index]
            self.bytes[index] = 0
        }
        self.current = slice
    }
}
