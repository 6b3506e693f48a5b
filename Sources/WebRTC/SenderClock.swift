/// Maps the RTP times of a publisher's streams onto one time line, in nanoseconds.
///
/// The line begins with the arrival of the first packet, by the receiver's monotonic clock, and then runs at the
/// speed of the sender's clock. RTP clocks of streams are unrelated; only sender reports connect them:
/// 1. Before its first report, a stream is placed by the arrival of its first packet.
/// 2. A report says which NTP time of the sender belongs to an RTP time. The median of the last five is used.
/// 3. A correction is made gradually, by at most 1 % of the elapsed time, or at once if it exceeds
///    500 ms. At its first report, the reference stream (audio) stays, and the others move.
/// 4. If RTP times jump, the stream continues without a gap by arrival, until its next report.
package struct SenderClock: Sendable {
    /// A report that deviates more from the others than this is a step of the sender's clock or of the stream, in
    /// nanoseconds. Larger corrections are made at once.
    static let largestGlide: Int64 = 500_000_000
    /// RTP times may advance by so much more than the arrivals, in nanoseconds, for example after an outage over TCP.
    static let largestAdvance: Int64 = 2_000_000_000
    /// RTP times may go back by so much, in nanoseconds, when frames are not sent in presentation order.
    static let largestReturn: Int64 = 1_000_000_000
    /// How long a stream may lag before it is placed anew, in nanoseconds.
    private static let longestLag: Int64 = 1_000_000_000
    /// Largest correction by reports, in nanoseconds: streams of one publisher are assumed to be closer together. A report
    /// that would move a stream by more is not used.
    static let largestCorrection: Int64 = 10_000_000_000
    private static let second: Int64 = 1_000_000_000

    private struct Stream {
        let clockRate: Int64
        var unwrapper = RTPTimeUnwrapper()
        /// Extended RTP time from which ``offset`` counts; nil before the first packet and after a restart.
        var origin: Int64?
        /// Time of ``origin`` on the common time line, in nanoseconds.
        var offset: Int64 = 0
        /// What ``offset`` should be, by sender reports; nil without any.
        var target: Int64?
        /// NTP time of ``origin`` in nanoseconds by each of the last five reports.
        var reports: [Int64] = []
        var lastTicks: Int64 = 0
        /// Time of the last packet on the common time line, in nanoseconds; nil before the first packet.
        var lastTime: Int64?
        var lastArrival: Int64 = 0
        /// Usual difference between the arrival of a packet and its time on the common time line. Changes slowly with the
        /// drift between the two clocks.
        var usualLag: Int64 = 0
        var lagsSince: Int64?
        /// Sum of the corrections.
        var corrected: Int64 = 0

        /// Converts a number of RTP ticks to nanoseconds.
        func elapsed(_ ticks: Int64) -> Int64 {
            // In two steps: ticks × 10⁹ would overflow after two days.
            ticks / self.clockRate * SenderClock.second + ticks % self.clockRate * SenderClock.second / self.clockRate
        }

        var median: Int64? {
            let sorted = self.reports.sorted()
            guard !sorted.isEmpty else { return nil }
            let (low, high) = (sorted[(sorted.count - 1) / 2], sorted[sorted.count / 2])
            return low + (high - low) / 2
        }
    }

    private var streams: [Stream]
    /// Stream that does not move at its first report.
    private let reference: Int?
    private var hasReference = false
    /// NTP time at which the common time line is 0, in nanoseconds since 1900; nil before the first report.
    private var lineStart: Int64?

    /// Times that a stream was placed anew because its RTP times jumped or stalled; restarts are excluded.
    package private(set) var jumps = 0
    /// Number of corrections by more than 500 ms.
    package private(set) var largeCorrections = 0
    /// Reports that were not used, since their RTP time is at least 5 s off the stream's.
    package private(set) var ignoredReports = 0

    /// - Parameters:
    ///   - clockRates: RTP clock rate in hertz of each stream.
    ///   - reference: Index of the stream that is heard, which should not be moved.
    package init(clockRates: [Int], reference: Int? = nil) {
        self.streams = clockRates.map { Stream(clockRate: Int64(max(1, $0))) }
        self.reference = reference
    }

    /// Time of a packet on the line. A gradual correction never lets the times of a stream decrease; one that is made at once
    /// can.
    ///
    /// - Parameters:
    ///   - stream: An index of the clock rates; another one gives the arrival.
    ///   - arrival: In nanoseconds.
    package mutating func time(stream index: Int, timestamp: UInt32, arrival: Int64) -> Int64 {
        guard self.streams.indices.contains(index) else { return arrival }
        let ticks = self.streams[index].unwrapper.unwrap(timestamp)
        guard let origin = self.streams[index].origin, let lastTime = self.streams[index].lastTime else {
            return self.place(index, ticks: ticks, at: arrival - self.usualLag(of: index), arrival: arrival)
        }
        let step = self.streams[index].elapsed(ticks - self.streams[index].lastTicks)
        let elapsed = max(0, arrival - self.streams[index].lastArrival)
        if step > elapsed + Self.largestAdvance || step < -Self.largestReturn {
            self.jumps += 1
            return self.place(index, ticks: ticks, at: lastTime + elapsed, arrival: arrival)
        }
        self.streams[index].lastTicks = ticks
        self.correct(index, step: step)
        let time = self.streams[index].elapsed(ticks - origin) + self.streams[index].offset
        if self.lags(index, by: arrival - time, at: arrival) {
            self.jumps += 1
            let usual = arrival - self.streams[index].usualLag
            return self.place(index, ticks: ticks, at: usual, arrival: arrival)
        }
        self.streams[index].lastTime = time
        self.streams[index].lastArrival = max(arrival, self.streams[index].lastArrival)
        return time
    }

    /// Takes a sender report of a stream, of which a packet must have arrived before.
    package mutating func received(_ report: RTCPSenderReport, stream index: Int, at arrival: Int64) {
        // NTP 0: the sender does not know the time (RFC 3550 §6.4.1).
        guard self.streams.indices.contains(index), let origin = self.streams[index].origin, report.ntp != 0 else {
            return
        }
        let elapsed = self.streams[index].elapsed(self.streams[index].unwrapper.peek(report.timestamp) - origin)
        let lag = arrival - (elapsed + self.streams[index].offset)
        // A report of before a jump, or one whose RTP time does not follow the stream.
        guard abs(lag - self.streams[index].usualLag) < 5 * Self.second else {
            self.ignoredReports += 1
            return
        }
        let before = self.streams[index].median
        self.streams[index].reports.append(NTPTime.nanoseconds(report.ntp) - elapsed)
        if self.streams[index].reports.count > 5 { self.streams[index].reports.removeFirst() }
        guard let median = self.streams[index].median else { return }
        if let before, let lineStart = self.lineStart, abs(median - before) > Self.largestGlide {
            let change = median - before
            // Either the stream's RTP time stalled, then it lags by the change; or the sender's clock was set.
            if abs(lag - change - self.streams[index].usualLag) > abs(lag - self.streams[index].usualLag) {
                // NTP times are the peer's choice: their differences, added up, may not fit.
                let (sum, overflows) = lineStart.addingReportingOverflow(change)
                self.lineStart = overflows ? median &- self.streams[index].offset : sum
                for other in self.streams.indices where other != index {
                    self.streams[other].reports.removeAll(keepingCapacity: true)
                    self.streams[other].target = nil
                }
            }
        }
        if self.lineStart == nil || index == self.reference && !self.hasReference {
            self.lineStart = median &- self.streams[index].offset
            self.hasReference = index == self.reference
        }
        self.setTargets()
    }

    /// Records that another SSRC continues a stream: its next packet is placed by arrival.
    package mutating func restart(stream index: Int) {
        guard self.streams.indices.contains(index) else { return }
        self.streams[index].origin = nil
        self.streams[index].target = nil
        self.streams[index].reports.removeAll(keepingCapacity: true)
    }

    /// The sender's wall clock at a time of the line, in nanoseconds since 1970; nil before the first report.
    ///
    /// Many senders' clocks are wrong. The caller compares it with its own clock.
    package func wallClock(at time: Int64) -> Int64? { self.lineStart.map { NTPTime.unix(time &+ $0) } }

    /// Current difference between where a stream is and where its reports want it, in nanoseconds; nil without usable
    /// reports.
    package func correction(stream index: Int) -> Int64? {
        guard self.streams.indices.contains(index), let target = self.streams[index].target else { return nil }
        return target - self.streams[index].offset
    }

    /// How far sender reports have moved a stream so far, in nanoseconds; positive: later. Placing by arrival does not count.
    package func corrected(stream index: Int) -> Int64 {
        self.streams.indices.contains(index) ? self.streams[index].corrected : 0
    }

    private mutating func place(_ index: Int, ticks: Int64, at time: Int64, arrival: Int64) -> Int64 {
        // Never back: what was given out cannot be taken back.
        let time = max(time, self.streams[index].lastTime ?? time)
        self.streams[index].origin = ticks
        self.streams[index].offset = time
        self.streams[index].target = nil
        self.streams[index].reports.removeAll(keepingCapacity: true)
        self.streams[index].lastTicks = ticks
        self.streams[index].lastTime = time
        self.streams[index].lastArrival = arrival
        self.streams[index].usualLag = arrival - time
        self.streams[index].lagsSince = nil
        return time
    }

    /// The usual lag of the stream, or of another one that has begun: the clocks of both sides have drifted alike.
    private func usualLag(of index: Int) -> Int64 {
        if self.streams[index].lastTime != nil { return self.streams[index].usualLag }
        return self.streams.first { $0.lastTime != nil }?.usualLag ?? 0
    }

    private mutating func setTargets() {
        guard let lineStart = self.lineStart else { return }
        for index in self.streams.indices {
            guard let median = self.streams[index].median else { continue }
            let (target, overflows) = median.subtractingReportingOverflow(lineStart)
            let (correction, isFar) = target.subtractingReportingOverflow(self.streams[index].offset)
            let isUsable = !overflows && !isFar && correction.magnitude <= UInt64(Self.largestCorrection)
            self.streams[index].target = isUsable ? target : nil
        }
    }

    /// Moves a stream towards its target.
    ///
    /// - Parameter step: Time since the previous packet in nanoseconds.
    private mutating func correct(_ index: Int, step: Int64) {
        guard let target = self.streams[index].target else { return }
        let wanted = target - self.streams[index].offset
        guard wanted != 0 else { return }
        var change = wanted
        if abs(wanted) > Self.largestGlide {
            self.largeCorrections += 1
        } else {
            let most = max(0, step) / 100
            change = min(max(wanted, -most), most)
        }
        self.streams[index].offset += change
        self.streams[index].usualLag -= change
        self.streams[index].corrected &+= change
    }

    /// Whether a stream has lagged for so long that its RTP time must have been stopped.
    private mutating func lags(_ index: Int, by lag: Int64, at arrival: Int64) -> Bool {
        let excess = lag - self.streams[index].usualLag
        if abs(excess) < Self.largestGlide { self.streams[index].usualLag += excess / 256 }
        guard excess > Self.largestAdvance else {
            self.streams[index].lagsSince = nil
            return false
        }
        guard let since = self.streams[index].lagsSince else {
            self.streams[index].lagsSince = arrival
            return false
        }
        return arrival - since > Self.longestLag
    }
}
