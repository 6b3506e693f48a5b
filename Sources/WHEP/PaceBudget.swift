/// How many bytes a viewer may be sent now: a late group of frames is spread over some time, so that it does not overflow the
/// queues of the network.
package struct PaceBudget: Sendable {
    /// The rate is ``speed`` times the bit rate of the stream, but at least this, in bytes per second.
    private static let leastRate: Int64 = 2_500_000
    private static let speed: Int64 = 10
    /// Bytes that are sent without waiting: more than a usual frame.
    package static let burst: Int64 = 48_000
    /// Time between two portions, in nanoseconds.
    package static let interval: Int64 = 5_000_000

    private var level = PaceBudget.burst
    private var last: Int64

    package init(now: Int64) { self.last = now }

    /// Adds what has become free since the last call.
    ///
    /// - Parameter bitrate: Of the stream, in bits per second.
    package mutating func refill(now: Int64, bitrate: Int) {
        let elapsed = min(max(0, now &- self.last), 1_000_000_000)
        let rate = max(Self.leastRate, Int64(min(max(0, bitrate), 1_000_000_000)) / 8 * Self.speed)
        self.last = max(self.last, now)
        self.level = min(Self.burst, self.level + elapsed * (rate / 1_000) / 1_000_000)
    }

    /// Whether another packet may be sent.
    package var isOpen: Bool { self.level > 0 }

    package mutating func spend(_ bytes: Int) { self.level -= Int64(bytes) }
}
