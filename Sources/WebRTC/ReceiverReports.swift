/// What a receiver report says about one SSRC: loss, jitter and the delay since the last sender report.
///
/// Loss is that of the network: packets that were resent count as lost, and duplicates do not count.
///
/// Spec: RFC 3550 §6.4.1, A.3, A.8.
package struct ReceiverReports: Sendable {
    package let ssrc: UInt32
    private let clockRate: Int64
    private var unwrapper = SequenceUnwrapper()
    /// First number that is expected.
    private var base: Int64?
    private var received: Int64 = 0
    private var expectedBefore: Int64 = 0
    private var receivedBefore: Int64 = 0
    /// Fraction of a tick of the RTP clock by which the last arrival was rounded down, in units of 10⁻⁹ ticks; nil before
    /// the first packet.
    private var transit: Int64?
    private var lastTimestamp: UInt32 = 0
    private var lastArrival: Int64 = 0
    /// Jitter times 16.
    private var scaledJitter: Int64 = 0
    private var lastSenderReport: (middle: UInt32, arrival: Int64)?
    /// Share of packets that were lost in the interval of the last report, 0…1.
    package private(set) var fractionLost = 0.0

    package init(ssrc: UInt32, clockRate: Int) {
        self.ssrc = ssrc
        self.clockRate = Int64(max(1, clockRate))
    }

    /// Packets of this SSRC that were expected so far.
    package var expected: Int64 {
        guard let base = self.base, let highest = self.unwrapper.highest else { return 0 }
        return highest - base + 1
    }

    /// Packets lost in the network so far, before retransmission.
    package var lost: Int64 { self.expected - self.received }

    /// Interarrival jitter in nanoseconds.
    package var jitter: Int64 { (self.scaledJitter >> 4) * 1_000_000_000 / self.clockRate }

    /// Counts an original packet that arrived for the first time.
    package mutating func received(sequence: UInt16, timestamp: UInt32, at now: Int64) {
        if let highest = self.unwrapper.highest,
            abs(self.unwrapper.peek(sequence) - highest) > ReceiveTrack.largestJump
        {
            // The sender restarted: the numbers between were never sent.
            let extended = self.unwrapper.restart(at: sequence)
            self.base = extended - self.expectedBefore
            self.received = self.receivedBefore
            self.transit = nil
        }
        let extended = self.unwrapper.unwrap(sequence)
        self.base = min(self.base ?? extended, extended)
        self.received += 1
        self.noteTransit(timestamp, at: now)
    }

    private mutating func noteTransit(_ timestamp: UInt32, at now: Int64) {
        guard let transit = self.transit else {
            self.transit = 0
            (self.lastTimestamp, self.lastArrival) = (timestamp, now)
            return
        }
        let step = Int64(Int32(bitPattern: timestamp &- self.lastTimestamp))
        let elapsed = now - self.lastArrival
        (self.lastTimestamp, self.lastArrival) = (timestamp, now)
        // After a pause or a jump of more than 10 s, a difference says nothing about the network.
        guard abs(elapsed) < 10_000_000_000, abs(step) < 10 * self.clockRate else { return }
        // The remainder is kept, because a packet's share of a tick would add up.
        let scaled = elapsed * self.clockRate + transit
        let ticks = scaled / 1_000_000_000
        self.transit = scaled % 1_000_000_000
        self.scaledJitter += abs(ticks - step) - ((self.scaledJitter + 8) >> 4)
    }

    package mutating func received(_ report: RTCPSenderReport, at now: Int64) {
        self.lastSenderReport = (NTPTime.middle(report.ntp), now)
    }

    /// The block for the next report. Begins a new interval for ``fractionLost``.
    package mutating func block(at now: Int64) -> RTCPReportBlock {
        let expected = self.expected - self.expectedBefore
        let received = self.received - self.receivedBefore
        self.expectedBefore = self.expected
        self.receivedBefore = self.received
        let lost = max(0, expected - received)
        self.fractionLost = expected > 0 ? Double(lost) / Double(expected) : 0
        return RTCPReportBlock(
            ssrc: self.ssrc, fractionLost: expected > 0 ? UInt8(min(255, lost * 256 / expected)) : 0,
            cumulativeLost: Int32(min(max(self.lost, -0x80_0000), 0x7F_FFFF)),
            // The first number was extended by one wrap, which the report does not count.
            highestSequence: UInt32(truncatingIfNeeded: (self.unwrapper.highest ?? 0x1_0000) - 0x1_0000),
            jitter: UInt32(truncatingIfNeeded: max(0, self.scaledJitter >> 4)),
            lastSenderReport: self.lastSenderReport?.middle ?? 0,
            delaySinceLastSenderReport: self.lastSenderReport.map { NTPTime.units(nanoseconds: now - $0.arrival) } ?? 0)
    }
}
