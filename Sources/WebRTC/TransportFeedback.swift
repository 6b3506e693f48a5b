/// Records when packets arrived, by their transport-wide sequence numbers, and reports it every 50 ms.
///
/// A report acknowledges its packets: the sender does not resend them afterwards. So only packets that really arrived
/// may be recorded. Numbers count all packets of a peer, retransmissions and probes included.
///
/// Spec: draft-holmer-rmcat-transport-wide-cc-extensions-01.
package struct TransportFeedback: Sendable {
    /// Time between two reports in nanoseconds.
    package static let interval: Int64 = 50_000_000
    /// Packets in memory: more than arrive within ``interval`` at 100 Mbit/s.
    static let capacity = 4096
    /// A larger step in either direction restarts the numbering.
    static let largestJump: Int64 = 3000
    /// A late packet is reported, and packets after it again, if it is at most this far behind.
    private static let furthestBack: Int64 = 512
    /// Size in bytes at which a message is ended, so that it fits into one datagram together with a receiver report.
    private static let largestMessage = 900

    private var unwrapper = SequenceUnwrapper()
    /// Arrival in units of 250 µs by number modulo ``capacity``; −1: did not arrive. Empty before the first packet.
    private var arrivals: [Int64] = []
    /// First packet number that the next report contains.
    private var begin: Int64 = 0
    /// The packet number after the highest one that arrived.
    private var end: Int64 = 0
    /// Number of the next feedback message, modulo 256.
    private var number: UInt8 = 0
    /// When the next report is due; nil if nothing arrived since the last one.
    package private(set) var deadline: Int64?
    private var lastReport: Int64?

    package init() {}

    /// Records a packet.
    ///
    /// - Parameter now: In nanoseconds, not negative.
    package mutating func received(_ sequence: UInt16, at now: Int64) {
        var extended = self.unwrapper.peek(sequence)
        if self.arrivals.isEmpty {
            self.arrivals = [Int64](repeating: -1, count: Self.capacity)
            (self.begin, self.end) = (extended, extended)
        } else if abs(extended - self.end) > Self.largestJump {
            extended = self.unwrapper.restart(at: sequence)
            self.arrivals = [Int64](repeating: -1, count: Self.capacity)
            (self.begin, self.end) = (extended, extended)
        }
        self.unwrapper.note(extended)
        if extended >= self.end {
            for lost in self.end..<extended { self.arrivals[self.index(lost)] = -1 }
            self.end = extended + 1
            // Never more than the memory holds: what was not reported by now is not reported.
            self.begin = max(self.begin, self.end - Int64(Self.capacity) + 1)
        } else if extended < self.begin {
            guard self.begin - extended <= Self.furthestBack, self.end - extended < Int64(Self.capacity) else { return }
            if self.arrivals[self.index(extended)] >= 0 { return }
            self.begin = extended
        } else if self.arrivals[self.index(extended)] >= 0 {
            // A duplicate: the first arrival counts.
            return
        }
        self.arrivals[self.index(extended)] = max(0, now) / 250_000
        if self.deadline == nil { self.deadline = (self.lastReport ?? now) + Self.interval }
        if let due = self.deadline, due < now { self.deadline = now }
    }

    /// The report that is due, as whole RTCP packets; empty if none is.
    ///
    /// - Parameters:
    ///   - sender: Own SSRC.
    ///   - media: SSRC of any received stream.
    package mutating func take(at now: Int64, sender: UInt32, media: UInt32) -> [[UInt8]] {
        guard let deadline = self.deadline, now >= deadline else { return [] }
        self.deadline = nil
        self.lastReport = now
        var messages: [[UInt8]] = []
        while let message = self.nextMessage(sender: sender, media: media) { messages.append(message) }
        return messages
    }

    private mutating func nextMessage(sender: UInt32, media: UInt32) -> [UInt8]? {
        // The reference time is that of the first packet that arrived, also if the message begins with lost ones.
        guard let first = (self.begin..<self.end).first(where: { self.arrivals[self.index($0)] >= 0 }) else {
            return nil
        }
        let base = self.begin
        var writer = TransportFeedbackWriter(first: self.arrivals[self.index(first)])
        while self.begin < self.end, writer.byteCount < Self.largestMessage {
            let time = self.arrivals[self.index(self.begin)]
            if time < 0 {
                writer.lost()
            } else if !writer.arrived(time) {
                break
            }
            self.begin += 1
        }
        // `first` always fits, at a distance of less than 256 units from its reference time.
        guard self.begin > base else { return nil }
        defer { self.number &+= 1 }
        return writer.message(
            sender: sender, media: media, base: UInt16(truncatingIfNeeded: base), number: self.number)
    }

    private func index(_ extended: Int64) -> Int { Int(extended & Int64(Self.capacity - 1)) }
}
