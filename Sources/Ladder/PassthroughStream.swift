package import MediaTypes

/// One source's coded pictures on the ticks of the program: a pure value, packets in, chunks out.
///
/// A chunk is the least run of packets, in decoding order, that shows every tick from its first to its last and nothing
/// else: one picture without reordering, a P picture with its B pictures otherwise. Only between chunks can a player be
/// handed another stream. Every GOP begins with an IDR picture, on the tick nearest to its time; the pictures behind it
/// follow tick by tick: a stream that has none for some tick, or two, is in trouble until its next IDR picture.
package struct PassthroughStream: Sendable {
    /// Packets that go out together.
    package struct Chunk: Sendable {
        package var first: Int64
        /// Behind the last.
        package var end: Int64
        /// Stamped in thousandths of a tick: `pts` when shown, `dts` when decoded, an IDR picture's both the same.
        package var packets: [CodedPacket]
        /// Begins with an IDR picture.
        package var isKey: Bool
        /// Shown right behind the chunk before, or one tick later: the publisher's clock is slow.
        package var isContinued: Bool
    }

    private struct GOP {
        let tick: Int64
        let pts: Int64
        /// Packets so far, and the last tick of theirs, from ``tick``.
        var count: Int64 = 0
        var last: Int64 = -1
        var bytes: Int64 = 0
        var open: [CodedPacket] = []
        /// First tick of what is open, from ``tick``; each one before it has its picture.
        var openFirst: Int64 = 0
        /// Ticks from ``openFirst`` on that have theirs, a bit each: a GOP without end takes no more room than a short one.
        var taken: UInt32 = 0
        var isContinued: Bool
    }

    /// Frames and bytes of a whole GOP.
    private struct Past: Sendable {
        var frames: Int64
        var bytes: Int64
    }

    /// A picture may lie this far from the tick it is counted on, in thousandths: phones stamp in whole milliseconds, and
    /// not always when they should.
    private static let slack: Int64 = 750
    /// Packets that may wait for an earlier tick's picture: the deepest reordering there is. Below the bits of a GOP's `taken`.
    private static let deepestReorder: Int64 = 16
    /// GOPs behind it that count for rate and distance.
    private static let remembered = 8
    /// Chunks that may wait.
    private static let mostChunks = 1_024

    package let fps: Int64
    package private(set) var parameters: CodecParameters?
    package private(set) var sequence: SequenceParameterSet?
    package private(set) var chunks: [Chunk] = []
    /// Whole GOPs in a row without trouble.
    package private(set) var goodGops = 0
    /// What was last wrong with it.
    package private(set) var trouble: PassthroughCause?
    /// The publication is over.
    package private(set) var isEnded = false
    private var gop: GOP?
    private var past: [Past] = []
    /// For the rate of pictures: packets since an IDR picture, and its time.
    private var counted: (since: Int64, packets: Int64)?
    /// Thousandths of a picture per second, over the last GOP.
    package private(set) var measuredFps: Int64?

    package init(fps: Int) { self.fps = Int64(max(1, fps)) }

    /// The next item of the source.
    package mutating func receive(_ item: ProgramItem) {
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

    /// Nothing known of the stream counts any more; what was placed stays.
    private mutating func forget() {
        self.gop = nil
        self.past = []
        self.counted = nil
        self.measuredFps = nil
        self.goodGops = 0
        self.trouble = nil
    }

    /// It has to show anew that it keeps the rules.
    package mutating func distrust(_ cause: PassthroughCause) {
        self.goodGops = 0
        self.trouble = cause
    }

    package mutating func popFirst() -> Chunk? { self.chunks.isEmpty ? nil : self.chunks.removeFirst() }

    /// Lets go of what begins before a tick.
    package mutating func dropChunks(before tick: Int64) {
        guard let first = self.chunks.first, first.first < tick else { return }
        self.chunks.removeFirst(self.chunks.firstIndex { $0.first >= tick } ?? self.chunks.count)
    }

    // MARK: Rates

    /// The greatest distance of IDR pictures lately, in ticks, the open GOP included; `nil` before a whole GOP.
    package var longestGop: Int64? {
        let open = (self.gop?.last ?? -1) + 1
        return self.past.map(\.frames).max().map { max($0, open) }
    }

    /// Bits per second over the last GOPs; `nil` before one.
    package var averageBitrate: Int64? {
        let frames = self.past.reduce(0) { $0 + $1.frames }
        guard frames > 0 else { return nil }
        return self.past.reduce(0) { $0 &+ $1.bytes } &* 8 &* self.fps / frames
    }

    /// The most by which any run of the last GOPs and the open one exceeds a rate, in bits: what a decoder's buffer that is
    /// filled at that rate must hold.
    package func excess(over bitrate: Int64) -> Int64 {
        var level: Int64 = 0
        var highest: Int64 = 0
        var runs = self.past
        if let gop = self.gop { runs.append(Past(frames: gop.last + 1, bytes: gop.bytes)) }
        for run in runs {
            level = max(0, level) &+ run.bytes &* 8 &- TimeMath.scale(bitrate, by: run.frames, over: self.fps)
            highest = max(highest, level)
        }
        return highest
    }

    // MARK: Placing

    /// Thousandths of a tick.
    private func position(_ nanoseconds: Int64) -> Int64 {
        TimeMath.scale(nanoseconds, by: self.fps * 1_000, over: TimeMath.nanoseconds, rounding: .nearest)
    }

    private mutating func place(_ packet: CodedPacket, _ pts: Int64) {
        guard self.sequence != nil, packet.kind == .video, packet.count > 0 else { return }
        let isKey = packet.isKey && Self.hasIDR(packet)
        self.count(pts, isKey: isKey)
        if isKey { self.begin(at: pts) }
        // Taken out, so that what is open is not copied for each picture.
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

    /// The picture's tick, counted from its GOP's first. A picture in turn is counted, so that a time that is a little off
    /// moves nothing.
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
            self.past.append(Past(frames: before.last + 1, bytes: before.bytes))
            if self.past.count > Self.remembered { self.past.removeFirst() }
        }
        self.gop = GOP(tick: tick, pts: pts, isContinued: isContinued)
    }

    /// Nothing is placed before the next IDR picture.
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

    /// Spec: H.264 §7.4.1.2.4: NAL unit type 5. Files mark recovery points as key pictures too.
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
