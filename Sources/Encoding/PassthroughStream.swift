package import MediaTypes

/// Maps one source's coded frames to the ticks of the program. A pure value: it receives packets and returns chunks.
///
/// A chunk is the shortest run of packets, in decoding order, that shows every tick from its first to its last and
/// nothing else: a single frame without reordering, otherwise a P-frame with its B-frames. A player can switch to
/// another stream only between chunks. Every GOP begins with an IDR frame, at the tick nearest to its time, and the
/// following frames fill one tick each. If a tick has no frame, or two, the stream is rejected until its next IDR
/// frame.
package struct PassthroughStream: Sendable {
    /// Packets that are output together, for the ticks `first ..< end`.
    package struct Chunk: Sendable {
        package var first: Int64
        /// The tick after the chunk's last tick.
        package var end: Int64
        /// Timestamps in thousandths of a tick: `pts` for display, `dts` for decoding; they are equal for an IDR frame.
        package var packets: [CodedPacket]
        /// Whether the chunk begins with an IDR frame.
        package var isKey: Bool
        /// Whether the chunk follows the previous chunk directly, or one tick later because the publisher's clock is
        /// slow.
        package var isContinued: Bool
    }

    private struct GOP {
        let tick: Int64
        let pts: Int64
        /// Number of packets so far (`count`), and the highest of their ticks relative to ``tick`` (`last`).
        var count: Int64 = 0
        var last: Int64 = -1
        var bytes: Int64 = 0
        var open: [CodedPacket] = []
        /// First tick of the packets that form no complete chunk yet, relative to ``tick``; every earlier tick has its
        /// frame.
        var openFirst: Int64 = 0
        /// Bit mask of the ticks from ``openFirst`` on that have a frame. Its size does not depend on the length of the
        /// GOP.
        var taken: UInt32 = 0
        var isContinued: Bool
        /// Whether a frame is decoded before one that is shown earlier.
        var hasBFrames = false
    }

    /// Number of frames and bytes of a complete GOP, and whether it has B-frames.
    private struct CompletedGOP: Sendable {
        var frames: Int64
        var bytes: Int64
        var hasBFrames = false
    }

    /// How far a frame may be from the tick it is assigned to, in thousandths of a tick: phones stamp in whole
    /// milliseconds, and not very accurately.
    private static let slack: Int64 = 750
    /// Maximum number of packets that wait for the frame of an earlier tick: the maximum reorder depth of H.264. Must
    /// be below the number of bits in `taken`.
    private static let deepestReorder: Int64 = 16
    /// Number of past GOPs used for bit rate and keyframe interval.
    private static let remembered = 8
    /// Maximum number of chunks that wait for their ticks.
    private static let mostChunks = 1_024

    package let fps: Int64
    package private(set) var parameters: CodecParameters?
    package private(set) var sequence: SequenceParameterSet?
    package private(set) var chunks: [Chunk] = []
    /// Number of consecutive complete GOPs without an error.
    package private(set) var goodGops = 0
    /// The last error of the stream; `nil` if there was none, or enough good GOPs have followed.
    package private(set) var trouble: PassthroughCause?
    /// Whether the publication has ended.
    package private(set) var isEnded = false
    private var gop: GOP?
    private var completedGOPs: [CompletedGOP] = []
    /// For measuring the frame rate: time of the last IDR frame in nanoseconds, and number of packets since, with it.
    private var counted: (since: Int64, packets: Int64)?
    /// Frame rate in thousandths of a frame per second, over the last GOP.
    package private(set) var measuredFps: Int64?

    package init(fps: Int) { self.fps = Int64(max(1, fps)) }

    /// Receives the next item of the source.
    package mutating func receive(_ item: ProgramPacket) {
        switch item {
        case .configuration(let parameters):
            guard parameters.kind == .video, parameters != self.parameters || self.isEnded else { return }
            self.forget()
            self.isEnded = false
            self.parameters = parameters
            self.sequence = parameters.codec == .h264 ? SequenceParameterSet(record: parameters.configuration) : nil
        case .picture(let packet, let pts): self.place(packet, pts)
        case .end:
            self.forget()
            self.isEnded = true
            self.trouble = .lost
        }
    }

    /// Discards all measurements. Complete chunks stay.
    private mutating func forget() {
        self.gop = nil
        self.completedGOPs = []
        self.counted = nil
        self.measuredFps = nil
        self.goodGops = 0
        self.trouble = nil
    }

    /// Requires the stream to have good GOPs again before it is passed through.
    package mutating func distrust(_ cause: PassthroughCause) {
        self.goodGops = 0
        self.trouble = cause
    }

    package mutating func popFirst() -> Chunk? { self.chunks.isEmpty ? nil : self.chunks.removeFirst() }

    /// Drops the chunks that begin before a tick.
    package mutating func dropChunks(before tick: Int64) {
        guard let first = self.chunks.first, first.first < tick else { return }
        self.chunks.removeFirst(self.chunks.firstIndex { $0.first >= tick } ?? self.chunks.count)
    }

    // MARK: Rates

    /// The longest recent keyframe interval in ticks, including the open GOP; `nil` before the first complete GOP.
    package var longestGop: Int64? {
        let open = (self.gop?.last ?? -1) + 1
        return self.completedGOPs.map(\.frames).max().map { max($0, open) }
    }

    /// First tick of the open GOP, and its length so far in ticks; `nil` if there is none.
    package var openGop: (tick: Int64, frames: Int64)? { self.gop.map { ($0.tick, $0.last + 1) } }

    /// Whether the open GOP is longer than each recent complete one, so that its end cannot be predicted.
    package var isKeyOverdue: Bool {
        guard let open = self.openGop, let longest = self.completedGOPs.map(\.frames).max() else { return false }
        return open.frames > longest
    }

    /// Whether frames of a recent GOP, including the open one, are decoded in another order than they are shown in.
    package var hasBFrames: Bool { self.gop?.hasBFrames == true || self.completedGOPs.contains(where: \.hasBFrames) }

    /// Bits per second over the last GOPs; `nil` before the first complete GOP.
    package var averageBitrate: Int64? {
        let frames = self.completedGOPs.reduce(0) { $0 + $1.frames }
        guard frames > 0 else { return nil }
        return self.completedGOPs.reduce(0) { $0 &+ $1.bytes } &* 8 &* self.fps / frames
    }

    /// Returns the largest number of bits by which any run of recent GOPs, including the open one, exceeds a bit rate.
    /// It is the size that a decoder buffer filled at that rate must have.
    package func excess(over bitrate: Int64) -> Int64 {
        var level: Int64 = 0
        var highest: Int64 = 0
        var runs = self.completedGOPs
        if let gop = self.gop { runs.append(CompletedGOP(frames: gop.last + 1, bytes: gop.bytes)) }
        for run in runs {
            level = max(0, level) &+ run.bytes &* 8 &- TimeMath.scale(bitrate, by: run.frames, over: self.fps)
            highest = max(highest, level)
        }
        return highest
    }

    // MARK: Assigning ticks

    /// Converts nanoseconds to thousandths of a tick.
    private func position(_ nanoseconds: Int64) -> Int64 {
        TimeMath.scale(nanoseconds, by: self.fps * 1_000, over: TimeMath.nanoseconds, rounding: .nearest)
    }

    private mutating func place(_ packet: CodedPacket, _ pts: Int64) {
        guard self.sequence != nil, packet.kind == .video, packet.count > 0 else { return }
        let isKey = packet.isKey && Self.hasIDR(packet)
        self.count(pts, isKey: isKey)
        if isKey { self.begin(at: pts) }
        // Taken out of the property, so that its packets are not copied for every frame.
        guard var gop = self.gop.take() else { return }
        let rank = self.rank(pts, in: gop)
        guard rank >= gop.openFirst else { return self.fail(.timestamps) }
        let delay = max(rank, gop.last) - gop.openFirst
        guard delay <= Self.deepestReorder, self.chunks.count < Self.mostChunks else { return self.fail(.gap) }
        let bit = UInt32(1) << UInt32(rank - gop.openFirst)
        guard gop.taken & bit == 0 else { return self.fail(.timestamps) }
        gop.taken |= bit
        var stamped = packet
        stamped.timescale = Int32(self.fps * 1_000)
        stamped.pts = (gop.tick + rank) * 1_000
        stamped.dts = (gop.tick + gop.count) * 1_000
        stamped.duration = 1_000
        stamped.isKey = isKey
        gop.open.append(stamped)
        gop.count += 1
        gop.bytes += Int64(packet.count)
        gop.last = max(gop.last, rank)
        if gop.last + 1 == gop.count {
            gop.hasBFrames = gop.hasBFrames || gop.open.count > 1
            self.chunks.append(
                Chunk(
                    first: gop.tick + gop.openFirst, end: gop.tick + gop.count, packets: gop.open,
                    isKey: gop.openFirst == 0, isContinued: gop.openFirst > 0 || gop.isContinued))
            gop.open = []
            gop.openFirst = gop.count
            gop.taken = 0
        }
        self.gop = gop
    }

    /// Returns the frame's tick, relative to the first tick of its GOP. Frames in order are counted, so that small
    /// errors of timestamps have no effect.
    private func rank(_ pts: Int64, in gop: GOP) -> Int64 {
        let position = self.position(pts &- gop.pts)
        if gop.count > gop.last, (position - gop.count * 1_000).magnitude <= UInt64(Self.slack) { return gop.count }
        return TimeMath.scale(position, by: 1, over: 1_000, rounding: .nearest)
    }

    private mutating func begin(at pts: Int64) {
        let position = self.position(pts)
        var tick = TimeMath.scale(position, by: 1, over: 1_000, rounding: .nearest)
        var isContinued = false
        if let before = self.gop {
            let expected = before.tick + before.count
            let drift = position - expected * 1_000
            if !before.open.isEmpty {
                self.fail(.gap)
            } else if drift > 1_000 + Self.slack {
                self.fail(.gap)
            } else if drift < -Self.slack {
                self.fail(.timestamps)
            } else {
                tick = drift > Self.slack ? expected + 1 : expected
                isContinued = true
                self.goodGops += 1
                if self.goodGops > 1 { self.trouble = nil }
            }
            self.completedGOPs.append(
                CompletedGOP(frames: before.last + 1, bytes: before.bytes, hasBFrames: before.hasBFrames))
            if self.completedGOPs.count > Self.remembered { self.completedGOPs.removeFirst() }
        }
        self.gop = GOP(tick: tick, pts: pts, isContinued: isContinued)
    }

    /// Drops the current GOP: no packet is accepted before the next IDR frame.
    private mutating func fail(_ cause: PassthroughCause) {
        self.gop = nil
        self.goodGops = 0
        self.trouble = cause
    }

    private mutating func count(_ pts: Int64, isKey: Bool) {
        if isKey {
            if let counted = self.counted, pts > counted.since {
                self.measuredFps = TimeMath.scale(
                    counted.packets * 1_000, by: TimeMath.nanoseconds, over: pts &- counted.since)
            }
            self.counted = (pts, 1)
        } else {
            self.counted?.packets += 1
        }
    }

    /// Whether a packet has an IDR slice. The key frame mark is not enough: in files, recovery points have it too.
    /// Spec: H.264 §7.4.1.2.4, NAL unit type 5.
    private static func hasIDR(_ packet: CodedPacket) -> Bool {
        let end = packet.range.upperBound
        var place = packet.range.lowerBound
        while place + 5 <= end {
            var length = 0
            for offset in 0..<4 { length = length << 8 | Int(packet.memory.byte(at: place + offset) ?? 0) }
            if (packet.memory.byte(at: place + 4) ?? 0) & 0x1F == 5 { return true }
            guard length > 0, length <= end - place - 4 else { return false }
            place += 4 + length
        }
        return false
    }
}
