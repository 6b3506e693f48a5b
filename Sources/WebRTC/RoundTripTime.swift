/// Estimates the round-trip time to a peer.
///
/// This side sends no media to the peer, so the peer's reports do not measure the time. Two other sources are used: the
/// answer to a receiver reference time (RFC 3611 §4.5), and the time from a request for a packet to its retransmission,
/// which includes the peer's own delay and counts only while there are no answers.
package struct RoundTripTime: Sendable {
    /// The smoothed round-trip time, in nanoseconds; nil while unknown.
    package private(set) var estimate: Int64?
    private var lastAnswer: Int64?
    /// How long retransmissions are not measured after an answer to a reference time, in nanoseconds.
    private static let validity: Int64 = 10_000_000_000
    private static let longest: Int64 = 10_000_000_000

    package init() {}

    /// - Parameters:
    ///   - ntp: Arrival by the clock of the reference times.
    ///   - now: Arrival in nanoseconds.
    package mutating func received(_ block: RTCPDelayBlock, ntp: UInt64, at now: Int64) {
        guard block.lastReference != 0 else { return }
        let units = NTPTime.middle(ntp) &- block.lastReference &- block.delay
        self.lastAnswer = now
        self.add(NTPTime.nanoseconds(units: units))
    }

    /// - Parameter requested: When the packet was requested for the first time; it was requested once only.
    package mutating func receivedRetransmission(requested: Int64, at now: Int64) {
        if let lastAnswer = self.lastAnswer, now - lastAnswer < Self.validity { return }
        self.add(now - requested)
    }

    /// Adds a measurement by other means, such as the duration of a handshake's flight, in nanoseconds. One below 0 or above
    /// 10 s is ignored.
    package mutating func add(_ sample: Int64) {
        guard (0...Self.longest).contains(sample) else { return }
        // RFC 6298 §2.3: alpha = 1/8.
        self.estimate = self.estimate.map { $0 + (sample - $0) / 8 } ?? sample
    }
}
