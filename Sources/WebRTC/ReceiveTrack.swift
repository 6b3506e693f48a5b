/// Puts the packets of one SSRC in order and requests those that are missing.
///
/// States of a sequence number:
/// 1. *given out* or *abandoned*: below ``next``. If it arrives then, it is dropped.
/// 2. *held*: it arrived, but an earlier one is missing.
/// 3. *missing*: a later one arrived. It is requested after ``Timing/firstRequest``, and again when an answer is
///    overdue. It is abandoned ``Timing/wait`` after it was missed, later if an answer is on its way, or earlier if the
///    packets that wait for it exceed a limit. The packet after abandoned ones says so (``OrderedPacket/isAfterLoss``).
/// 4. not yet sent.
///
/// Memory is bounded by ``mostHeldPackets`` and ``mostHeldBytes``. In the normal case, in which a packet arrives in
/// order, nothing is allocated.
package struct ReceiveTrack: Sendable {
    /// When missing packets are requested again and abandoned; times in nanoseconds.
    package struct Timing: Sendable, Hashable {
        /// Time from when a packet is missed until it is requested, since packets may overtake each other.
        package var firstRequest: Int64 = 8_000_000
        /// Shortest time between two requests of the same packet.
        package var shortestRepeat: Int64 = 40_000_000
        /// Time from when a packet is missed until it is abandoned, unless an answer is on its way.
        package var wait: Int64
        /// Whether the sender resends packets. If not, then missing ones are not requested.
        package var isRepaired: Bool
        /// How long the first packet waits for earlier ones that it may have overtaken; 0: not at all.
        package var start: Int64 = 10_000_000

        /// - Parameter wait: Default: 320 ms, for five requests at round trips up to 70 ms. Without retransmission 120 ms,
        ///   for packets that overtake each other.
        package init(isRepaired: Bool, wait: Int64? = nil) {
            self.isRepaired = isRepaired
            self.wait = wait ?? (isRepaired ? 320_000_000 : 120_000_000)
        }
    }

    /// What happened to a packet.
    package enum Outcome: Sendable, Hashable {
        /// The packet was received without having been requested.
        case taken
        /// The packet was missing and had been requested.
        case recovered
        /// The packet is not needed and no loss: it arrived before, for example, or is a retransmission before the first original.
        case duplicate
        /// The packet had been abandoned.
        case late
        /// The packet's number is far from the others, and the sender does not count as restarted (yet).
        case stray
    }

    /// A larger step of sequence numbers is a restart of the sender if a second packet confirms it (RFC 3550 A.1).
    package static let largestJump: Int64 = 3000
    /// Maximum number of packets that wait for missing ones; more than ``largestJump``, and a power of two.
    static let mostHeldPackets = 4096
    /// Maximum number of bytes that wait for missing packets.
    static let mostHeldBytes = 8 << 20
    /// Shortest time between two restarts, in nanoseconds.
    private static let restartInterval: Int64 = 1_000_000_000
    /// Number of packets before the first one that it may have overtaken.
    private static let startNumbers: Int64 = 16
    /// How much later than ``Timing/wait`` the answer to the last request may be expected, in nanoseconds.
    private static let longestGrace: Int64 = 100_000_000
    /// libwebrtc ignores requests for a packet that it resent less than its estimate of the round trip plus 5 ms ago.
    private static let senderMargin: Int64 = 5_000_000
    /// From the third request for a packet on, each is sent twice: requests are lost, too, and few are left.
    private static let firstCopied = 3
    /// Time from a request to its copy, in nanoseconds: a short burst of loss should not take both.
    private static let copyDelay: Int64 = 10_000_000

    private struct MissingPacket {
        let sequence: Int64
        let noticed: Int64
        var abandonAt: Int64
        var nextRequest: Int64
        var requests = 0
        var lastRequest: Int64 = 0
        /// Whether ``nextRequest`` is the copy of the last request.
        var isCopyNext = false
        /// False for numbers before the first packet, which may not exist.
        var isKnown = true

        /// Makes the request that is due.
        ///
        /// - Returns: Whether it is sent. If not, then there are no further ones.
        mutating func request(at now: Int64, roundTrip: Int64, timing: Timing) -> Bool {
            // Both sides estimate the round trip, and not equally.
            let pause = max(timing.shortestRepeat, roundTrip + roundTrip / 32 + ReceiveTrack.senderMargin)
            if self.isCopyNext {
                self.isCopyNext = false
                self.nextRequest = self.lastRequest + pause
                return true
            }
            let end = self.noticed + timing.wait
            let lastAnswer = end + min(roundTrip, ReceiveTrack.longestGrace)
            // An answer that can only arrive after the packet was abandoned is useless, but a first request may be
            // lucky: the estimate may be wrong.
            guard self.requests == 0 || now + roundTrip <= lastAnswer else {
                self.nextRequest = .max
                return false
            }
            self.requests += 1
            self.lastRequest = now
            self.isCopyNext = self.requests >= ReceiveTrack.firstCopied
            self.nextRequest = now + (self.isCopyNext ? ReceiveTrack.copyDelay : pause)
            // The answer may be that to the copy, and packets may overtake it.
            let slack = ReceiveTrack.copyDelay + timing.firstRequest
            self.abandonAt = max(end, min(now + roundTrip, lastAnswer) + slack)
            return true
        }
    }

    package let timing: Timing
    private var unwrapper = SequenceUnwrapper()
    /// The next number to give out; nil before the first packet.
    private var next: Int64?
    /// Numbers between ``next`` and the highest that have not arrived, ascending; also ascending in when they were
    /// noticed.
    private var missing: [MissingPacket] = []
    /// Packets by number modulo the size, which is a power of two and grows; empty until one has to wait.
    private var ring: [OrderedPacket?] = []
    private var heldBytes = 0
    /// Ranges of numbers that were abandoned last.
    private var abandoned: [Range<Int64>] = []
    /// Whether the next packet given out comes after a loss.
    private var isAfterLoss = true
    /// The packet that may begin a restarted sender's numbers.
    private var jumped: (sequence: UInt16, packet: OrderedPacket)?
    private var lastRestart: Int64?
    /// The number of the last packet given out; nil before the first.
    private var lastGiven: Int64?
    /// Earliest time at which a missing packet is to be requested; not later than the real one.
    private var nextRequest: Int64 = .max

    package private(set) var counters = Counters()

    /// Counters of the packets of one stream, since its beginning.
    package struct Counters: Sendable, Hashable {
        /// Missing packets that arrived after a request.
        package var recovered: UInt64 = 0
        /// Missing packets that were abandoned.
        package var lost: UInt64 = 0
        package var duplicates: UInt64 = 0
        /// Packets that arrived after they were abandoned.
        package var late: UInt64 = 0
        /// Packets without payload.
        package var empty: UInt64 = 0
        package var stray: UInt64 = 0
        package var restarts: UInt64 = 0
        /// Requested numbers, repetitions and copies included.
        package var requested: UInt64 = 0
    }

    package init(timing: Timing) { self.timing = timing }

    /// Whether packets wait for missing ones.
    package var isWaiting: Bool { !self.missing.isEmpty }

    /// Packets that were missed and are neither there nor abandoned.
    package var missingCount: Int { self.missing.count }

    /// Bytes of the packets that wait.
    package var waitingBytes: Int { self.heldBytes }

    /// When ``advance(to:into:)`` or ``requests(at:roundTrip:limit:into:)`` has something to do; nil if nothing is missing.
    package var deadline: Int64? {
        guard let first = self.missing.first else { return nil }
        return min(first.abandonAt, self.nextRequest)
    }

    /// Takes a packet and gives out those that are in order now.
    ///
    /// - Parameters:
    ///   - packet: Its ``OrderedPacket/sequence`` does not matter; an empty payload marks a packet with padding only.
    ///   - sequence: The number of the packet; of a retransmission, the original one.
    ///   - isRetransmission: Whether it came on the retransmission stream (RFC 4588).
    ///   - ordered: Packets are appended.
    package mutating func receive(
        _ packet: OrderedPacket, sequence: UInt16, isRetransmission: Bool, into ordered: inout [OrderedPacket]
    ) -> Outcome {
        guard let next = self.next, let highest = self.unwrapper.highest else {
            // Without any original, a retransmission says nothing about where the stream is.
            if isRetransmission { return self.count(.duplicate) }
            // After ``restart(into:)``, the numbers continue above all earlier ones.
            let extended = self.unwrapper.restart(at: sequence)
            let earlier = self.timing.start > 0 ? Self.startNumbers : 0
            self.next = max(extended - earlier, (self.lastGiven ?? .min / 2) + 1)
            self.waitForEarlier(than: extended, at: packet.arrival)
            self.store(packet, at: extended, into: &ordered)
            return .taken
        }
        let extended = self.unwrapper.peek(sequence)
        if abs(extended - highest) > Self.largestJump {
            if isRetransmission { return self.count(.stray) }
            return self.receiveJump(packet, sequence: sequence, into: &ordered)
        }
        if !isRetransmission { self.jumped = nil }
        if extended < next { return self.count(self.isAbandoned(extended) ? .late : .duplicate) }
        if extended > highest {
            self.makeRoom(for: extended, bytes: packet.payload.count, into: &ordered)
            if extended > highest + 1 { self.noticeMissing(highest + 1..<extended, at: packet.arrival) }
            self.unwrapper.note(extended)
            self.store(packet, at: extended, into: &ordered)
            return .taken
        }
        guard let index = self.missingIndex(extended) else { return self.count(.duplicate) }
        let wasRequested = self.missing[index].requests > 0
        self.missing.remove(at: index)
        self.store(packet, at: extended, into: &ordered)
        return wasRequested ? self.count(.recovered) : .taken
    }

    /// When a missing packet was requested for the only time; nil if it is not missing or was not requested exactly
    /// once. The time until it arrives is a round trip (RFC 6298 §3: repetitions would be ambiguous).
    package func onlyRequest(of sequence: UInt16) -> Int64? {
        guard !self.missing.isEmpty, let index = self.missingIndex(self.unwrapper.peek(sequence)),
            self.missing[index].requests == 1
        else { return nil }
        return self.missing[index].lastRequest
    }

    /// Abandons packets that have been missing for too long, and gives out those after them.
    package mutating func advance(to now: Int64, into ordered: inout [OrderedPacket]) {
        while let first = self.missing.first, now >= first.abandonAt { self.abandon(into: &ordered) }
    }

    /// Appends the numbers that are to be requested now, ascending.
    ///
    /// - Parameters:
    ///   - roundTrip: Estimated round-trip time in nanoseconds; 0: unknown.
    ///   - limit: At most so many; others remain due.
    package mutating func requests(at now: Int64, roundTrip: Int64, limit: Int, into numbers: inout [UInt16]) {
        guard self.timing.isRepaired, now >= self.nextRequest else { return }
        var earliest = Int64.max
        var count = 0
        for index in self.missing.indices {
            if self.missing[index].nextRequest <= now, count < limit,
                self.missing[index].request(at: now, roundTrip: roundTrip, timing: self.timing)
            {
                numbers.append(UInt16(truncatingIfNeeded: self.missing[index].sequence))
                count += 1
            }
            earliest = min(earliest, self.missing[index].nextRequest)
        }
        self.counters.requested += UInt64(count)
        self.nextRequest = earliest
    }

    /// Gives out everything that waits. The next packet may have any number: another SSRC or a restarted sender continues.
    package mutating func restart(into ordered: inout [OrderedPacket]) {
        while !self.missing.isEmpty { self.abandon(into: &ordered) }
        self.next = nil
        self.jumped = nil
        self.isAfterLoss = true
        self.nextRequest = .max
        self.counters.restarts += 1
    }

    /// Takes a packet whose number is far from the others.
    private mutating func receiveJump(
        _ packet: OrderedPacket, sequence: UInt16, into ordered: inout [OrderedPacket]
    ) -> Outcome {
        let mayRestart = self.lastRestart.map { packet.arrival - $0 >= Self.restartInterval } ?? true
        // Packets after the confirmed one may have been lost.
        guard mayRestart, let first = self.jumped, 1...5 ~= sequence &- first.sequence else {
            self.jumped = (sequence, packet)
            return self.count(.stray)
        }
        self.lastRestart = packet.arrival
        self.restart(into: &ordered)
        _ = self.receive(first.packet, sequence: first.sequence, isRetransmission: false, into: &ordered)
        return self.receive(packet, sequence: sequence, isRetransmission: false, into: &ordered)
    }

    private mutating func count(_ outcome: Outcome) -> Outcome {
        switch outcome {
        case .taken: break
        case .recovered: self.counters.recovered += 1
        case .duplicate: self.counters.duplicates += 1
        case .late: self.counters.late += 1
        case .stray: self.counters.stray += 1
        }
        return outcome
    }

    private func isAbandoned(_ extended: Int64) -> Bool { self.abandoned.contains { $0.contains(extended) } }

    private func missingIndex(_ extended: Int64) -> Int? {
        var (low, high) = (0, self.missing.count)
        while low < high {
            let middle = (low + high) / 2
            if self.missing[middle].sequence < extended { low = middle + 1 } else { high = middle }
        }
        return low < self.missing.count && self.missing[low].sequence == extended ? low : nil
    }

    private mutating func noticeMissing(_ range: Range<Int64>, at now: Int64) {
        // Arrivals never decrease, except if a caller's clock does.
        let noticed = max(now, self.missing.last?.noticed ?? now)
        let due = self.timing.isRepaired ? noticed + self.timing.firstRequest : .max
        for sequence in range {
            self.missing.append(
                MissingPacket(
                    sequence: sequence, noticed: noticed, abandonAt: noticed + self.timing.wait, nextRequest: due))
        }
        self.nextRequest = min(self.nextRequest, due)
    }

    /// Gives packets that the first one has overtaken a chance.
    private mutating func waitForEarlier(than first: Int64, at now: Int64) {
        guard let next = self.next else { return }
        for sequence in next..<first {
            self.missing.append(
                MissingPacket(
                    sequence: sequence, noticed: now, abandonAt: now + self.timing.start, nextRequest: .max,
                    isKnown: false))
        }
    }

    /// Abandons the oldest missing packets until another packet fits.
    private mutating func makeRoom(for extended: Int64, bytes: Int, into ordered: inout [OrderedPacket]) {
        while !self.missing.isEmpty, let next = self.next,
            extended - next >= Int64(Self.mostHeldPackets) || self.heldBytes + bytes > Self.mostHeldBytes
        {
            self.abandon(into: &ordered)
        }
    }

    /// Abandons the missing packets before the first one that waits, and gives out the packets from that one to the next missing one.
    private mutating func abandon(into ordered: inout [OrderedPacket]) {
        guard let start = self.next, self.missing.first?.sequence == start else {
            self.missing.removeAll()
            return
        }
        var count = 0
        var lost = 0
        while count < self.missing.count, self.missing[count].sequence == start + Int64(count) {
            if self.missing[count].isKnown { lost += 1 }
            count += 1
        }
        self.missing.removeFirst(count)
        self.counters.lost += UInt64(lost)
        self.isAfterLoss = true
        if self.abandoned.count == 16 { self.abandoned.removeFirst() }
        self.abandoned.append(start..<start + Int64(count))
        self.next = start + Int64(count)
        self.drain(into: &ordered)
    }

    private mutating func store(_ packet: OrderedPacket, at extended: Int64, into ordered: inout [OrderedPacket]) {
        guard let next = self.next else { return }
        if extended == next {
            self.give(packet, extended, into: &ordered)
            self.next = next + 1
            if self.heldBytes > 0 { self.drain(into: &ordered) }
            return
        }
        self.growRing(toHold: extended - next + 1)
        self.ring[Int(extended) & (self.ring.count - 1)] = packet
        self.heldBytes += Self.cost(packet)
    }

    /// Gives out the packets that wait, up to the next missing one.
    private mutating func drain(into ordered: inout [OrderedPacket]) {
        guard !self.ring.isEmpty, var next = self.next else { return }
        while true {
            let index = Int(next) & (self.ring.count - 1)
            guard let packet = self.ring[index] else { break }
            self.ring[index] = nil
            self.heldBytes -= Self.cost(packet)
            self.give(packet, next, into: &ordered)
            next += 1
        }
        self.next = next
        // A long outage should not cost memory from then on.
        if self.heldBytes == 0, self.ring.count > 1024 { self.ring = [] }
    }

    private mutating func give(_ packet: OrderedPacket, _ extended: Int64, into ordered: inout [OrderedPacket]) {
        guard !packet.payload.isEmpty else {
            self.counters.empty += 1
            return
        }
        ordered.append(
            OrderedPacket(
                sequence: extended, timestamp: packet.timestamp, marker: packet.marker, payload: packet.payload,
                orientation: packet.orientation, arrival: packet.arrival, isAfterLoss: self.isAfterLoss))
        self.isAfterLoss = false
        self.lastGiven = extended
    }

    private mutating func growRing(toHold count: Int64) {
        guard count > Int64(self.ring.count) else { return }
        var size = max(64, self.ring.count)
        while Int64(size) < count { size *= 2 }
        var larger = [OrderedPacket?](repeating: nil, count: size)
        if !self.ring.isEmpty, let next = self.next {
            for offset in 0..<self.ring.count {
                let extended = Int(next) + offset
                larger[extended & (size - 1)] = self.ring[extended & (self.ring.count - 1)]
            }
        }
        self.ring = larger
    }

    /// Bytes that a waiting packet occupies, its header and bookkeeping included.
    private static func cost(_ packet: OrderedPacket) -> Int { packet.payload.count + 128 }
}

extension ReceiveTrack.Counters {
    /// Adds the counters of another stream.
    mutating func add(_ other: ReceiveTrack.Counters) {
        self.recovered += other.recovered
        self.lost += other.lost
        self.duplicates += other.duplicates
        self.late += other.late
        self.empty += other.empty
        self.stray += other.stray
        self.restarts += other.restarts
        self.requested += other.requested
    }
}
