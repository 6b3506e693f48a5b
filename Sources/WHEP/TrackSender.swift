package import MediaTypes
package import WebRTC

/// One track as one viewer gets it: the packets of a ``PacketHistory`` with the viewer's numbers and times.
///
/// Pure: it makes RTP packets in clear. The payloads are those of all viewers; only the header differs.
package struct TrackSender: Sendable {
    /// Where the packets from some index of the history on went in the viewer's numbering.
    private struct Run: Sendable {
        /// Index in the history.
        var start: Int64
        /// Extended RTP sequence number of the packet at ``start``.
        var sequence: Int64
        var catchUp: CatchUp?
    }

    /// Times of a group of frames that is sent late, at once: they are compressed to end where the frames of the present begin,
    /// so that a player shows the present at once and does not stay behind by the age of the group.
    private struct CatchUp: Sendable {
        /// The last frame of the group.
        var frame: Int64
        /// Time of the last frame, in ticks.
        var time: Int64
        /// Ticks between two frames.
        var step: Int64
    }

    /// Number of runs that are remembered for retransmissions.
    private static let mostRuns = 8
    /// Shortest time between two retransmissions of a packet, in nanoseconds.
    private static let repairInterval: Int64 = 20_000_000
    /// Number of retransmissions whose times are remembered for ``repairInterval``.
    private static let mostRepairs = 256
    /// Number of packets whose protected bytes are kept for a viewer without rtx.
    private static let mostKept = 512
    private static let headerSize = 12

    package let kind: TrackKind
    package let ssrc: UInt32
    package let payloadType: UInt8
    private let repair: (ssrc: UInt32, payloadType: UInt8)?
    private let keepsBytes: Bool
    /// Added to the times of the history; random, as RFC 3550 §5.1 asks.
    private let timeOffset: UInt32

    /// Index of the next packet in the history; nil: nothing is sent before ``begin(_:)``.
    package private(set) var next: Int64?
    /// Extended RTP sequence number of the next packet that is sent.
    private var sequence: Int64
    private var repairSequence: UInt16
    private var runs: [Run] = []
    /// Greatest time that was sent, in ticks of the history.
    private var lastTime: Int64?
    private var repairs: [(sequence: Int64, at: Int64)] = []
    private var oldestRepair = 0
    private var kept: [(sequence: Int64, bytes: [UInt8])?]
    /// For sender reports, which count the packets of the track without retransmissions.
    package private(set) var packets: UInt32 = 0
    package private(set) var octets: UInt32 = 0

    /// - Parameter random: Random bits; they need not be secret.
    package init(_ track: NegotiatedTrack, sources: ViewerSources, random: UInt64) {
        self.kind = track.kind
        self.ssrc = track.kind == .video ? sources.video : sources.audio
        self.payloadType = track.payloadType
        self.repair = track.kind == .video ? track.rtxPayloadType.map { (sources.videoRepair, $0) } : nil
        self.keepsBytes = track.hasNACK && self.repair == nil
        self.kept = self.keepsBytes ? Array(repeating: nil, count: Self.mostKept) : []
        self.timeOffset = UInt32(truncatingIfNeeded: random)
        // Low at first, so that a loss among the first packets does not look like a wrap (RFC 3711 §3.3.1).
        self.sequence = 0x1_0000 + Int64(random >> 32 & 0x7FFF)
        self.repairSequence = UInt16(truncatingIfNeeded: random >> 48) & 0x7FFF
    }

    /// Extended RTP sequence number of the next packet that is sent.
    package var position: Int64 { self.sequence }

    // MARK: Beginning

    /// Continues with the packet at `index`; nil: sends nothing more before the next call.
    package mutating func begin(_ index: Int64?) {
        self.next = index
        guard let index else { return }
        self.add(Run(start: index, sequence: self.sequence, catchUp: nil))
    }

    /// Continues with a group of frames that reaches to the newest one in the history.
    ///
    /// - Parameter index: The first packet of a key frame.
    package mutating func beginGroup(at index: Int64, in history: PacketHistory) {
        guard let first = history[index], let last = history.last else { return self.begin(index) }
        self.next = index
        let frames = max(0, last.frame - first.frame)
        let previous = history[history.end - 2].flatMap { $0.frame < last.frame ? $0 : nil }
        let usual = max(100, min(9_000, previous.map { last.time - $0.time } ?? 3_000))
        // A millisecond for each frame, or less where the time must stay between those sent before and the next frame.
        var catchUp = CatchUp(frame: last.frame, time: last.time, step: 90)
        if let lastTime, lastTime >= last.time - (frames + 1) * catchUp.step {
            catchUp.step = max(1, min(90, usual / (frames + 2)))
            catchUp.time = lastTime + (frames + 1) * catchUp.step
        }
        self.add(
            Run(start: index, sequence: self.sequence, catchUp: frames > 0 || self.lastTime != nil ? catchUp : nil))
    }

    private mutating func add(_ run: Run) {
        // A run without packets has no use.
        if let last = self.runs.last, last.sequence == run.sequence { self.runs.removeLast() }
        self.runs.append(run)
        if self.runs.count > Self.mostRuns { self.runs.removeFirst() }
    }

    // MARK: Packets

    /// Makes the next packet and goes on to the one after it.
    ///
    /// - Parameter bytes: Is replaced by the packet in clear. The capacity is kept.
    /// - Returns: False if there is no packet: sending has not begun, the viewer has everything, or the next packet is not
    ///   kept any more.
    package mutating func take(from history: PacketHistory, into bytes: inout [UInt8]) -> Bool {
        guard let next, let packet = history[next], let run = self.runs.last else { return false }
        let time = Self.time(of: packet, run)
        Self.header(
            payloadType: self.payloadType, marker: packet.marker, sequence: UInt16(truncatingIfNeeded: self.sequence),
            time: self.timestamp(time), ssrc: self.ssrc, into: &bytes)
        bytes.append(contentsOf: packet.payload)
        self.lastTime = max(self.lastTime ?? time, time)
        self.packets &+= 1
        self.octets &+= UInt32(truncatingIfNeeded: packet.payload.count)
        self.sequence += 1
        self.next = next + 1
        return true
    }

    /// Remembers the protected bytes of the packet that ``take(from:into:)`` made last, if retransmissions need them.
    package mutating func keep(_ protected: [UInt8]) {
        guard self.keepsBytes else { return }
        let sequence = self.sequence - 1
        self.kept[Int(sequence % Int64(Self.mostKept))] = (sequence, protected)
    }

    /// The answer to a viewer's request (NACK) to send one packet again.
    package enum Repair: Equatable {
        /// A packet of the retransmission stream (RTX), not encrypted yet.
        case packet([UInt8])
        /// The encrypted packet as it was sent the first time, since an SRTP index is used only once.
        case protected([UInt8])
        /// Nothing is sent: the packet is not kept any more, was never sent, or was sent again a moment ago.
        case none
    }

    /// The extended sequence number of a packet that was sent; nil for one that was not.
    private func extended(_ number: UInt16) -> Int64? {
        let step = Int16(bitPattern: number &- UInt16(truncatingIfNeeded: self.sequence))
        return step < 0 ? self.sequence + Int64(step) : nil
    }

    private func keptBytes(_ sequence: Int64) -> [UInt8]? {
        guard self.keepsBytes else { return nil }
        return self.kept[Int(sequence % Int64(Self.mostKept))].flatMap { $0.sequence == sequence ? $0.bytes : nil }
    }

    private func sent(_ sequence: Int64, in history: PacketHistory) -> (packet: HistoryPacket, run: Run)? {
        guard let run = self.runs.last(where: { $0.sequence <= sequence }) else { return nil }
        return history[run.start + sequence - run.sequence].map { ($0, run) }
    }

    /// Whether a packet was sent and can be sent again.
    package func has(_ number: UInt16, in history: PacketHistory) -> Bool {
        guard let sequence = self.extended(number) else { return false }
        return self.keptBytes(sequence) != nil || self.repair != nil && self.sent(sequence, in: history) != nil
    }

    /// Returns what to send in answer to a request (NACK) for one packet.
    ///
    /// Spec: RFC 4588 §4.
    package mutating func repair(_ number: UInt16, from history: PacketHistory, now: Int64) -> Repair {
        guard let wanted = self.extended(number), self.mayRepair(wanted, now: now) else { return .none }
        if let bytes = self.keptBytes(wanted) { return .protected(bytes) }
        guard let repair, let (packet, run) = self.sent(wanted, in: history) else { return .none }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.headerSize + 2 + packet.payload.count + 32)
        Self.header(
            payloadType: repair.payloadType, marker: packet.marker, sequence: self.repairSequence,
            time: self.timestamp(Self.time(of: packet, run)), ssrc: repair.ssrc, into: &bytes)
        self.repairSequence &+= 1
        bytes += [UInt8(number >> 8), UInt8(number & 0xFF)]
        bytes += packet.payload
        return .packet(bytes)
    }

    private mutating func mayRepair(_ sequence: Int64, now: Int64) -> Bool {
        for index in self.repairs.indices where self.repairs[index].sequence == sequence {
            guard now &- self.repairs[index].at >= Self.repairInterval else { return false }
            self.repairs[index].at = now
            return true
        }
        if self.repairs.count < Self.mostRepairs {
            self.repairs.append((sequence, now))
        } else {
            self.repairs[self.oldestRepair] = (sequence, now)
            self.oldestRepair = (self.oldestRepair + 1) % Self.mostRepairs
        }
        return true
    }

    // MARK: Times

    /// The RTP time stamp of a time in ticks of the history.
    package func timestamp(_ time: Int64) -> UInt32 { UInt32(truncatingIfNeeded: time) &+ self.timeOffset }

    private static func time(of packet: HistoryPacket, _ run: Run) -> Int64 {
        guard let catchUp = run.catchUp, packet.frame <= catchUp.frame else { return packet.time }
        return catchUp.time - (catchUp.frame - packet.frame) * catchUp.step
    }

    private static func header(
        payloadType: UInt8, marker: Bool, sequence: UInt16, time: UInt32, ssrc: UInt32, into bytes: inout [UInt8]
    ) {
        bytes.removeAll(keepingCapacity: true)
        bytes.append(0x80)
        bytes.append((marker ? 0x80 : 0) | payloadType)
        bytes.append(UInt8(sequence >> 8))
        bytes.append(UInt8(sequence & 0xFF))
        let words = UInt64(time) << 32 | UInt64(ssrc)
        for shift in stride(from: UInt64(56), through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: words >> shift))
        }
    }
}
