package import MediaTypes

/// Cuts the coded packets of one track into parts and segments at the boundaries that all tracks share.
///
/// Packet times count from the room's origin in any timescale in which a frame (video) or a sample (audio) is exact,
/// such as `fps`, `fps × 1000` or the sample rate. Video times are rounded to the nearest frame.
///
/// Invariants:
/// (1) A sample belongs to the part that contains its ``PlacedSample/time``: audio by its start, video by its decoding
///     time, which for an IDR frame is its presentation time. With closed GOPs every rendition is therefore cut at the
///     same frames, however many frames its encoder reorders.
/// (2) Video parts are contiguous: a part starts and ends on a part boundary. If a frame is missing, the previous one
///     is shown longer; at the start of a part the next one is shown from the part's start. Parts and segments without
///     any sample are not filled: time jumps over them.
/// (3) Decoding times increase strictly. A packet that does not advance is dropped and counted.
/// (4) Every segment is returned exactly once, in order, from that of the first tick to the last one that has a sample.
package struct TrackSegmenter: Sendable {
    /// A part or segment that a packet has completed.
    package enum Output: Sendable {
        case part(FinishedPart)
        case segment(FinishedSegment)
    }

    /// Maximum number of segments (half an hour at 2 s) by which a packet may jump ahead. A packet further ahead is
    /// treated as damaged and dropped.
    private static let longestJump: Int64 = 1_024
    /// Maximum size of a part in bytes, since sizes inside a fragment have 32 bits.
    private static let largestPart = 1 << 30

    /// Maximum number of frames that H.264 reorders (§A.3.1, `MaxDpbFrames`).
    private static let deepestReorder: Int64 = 16
    /// Upper bound to which frame numbers are clamped; the bound itself is out of range.
    private static let lastFrame = OutputGrid.lastTick / OutputGrid.ticksPerFrame + 1

    package let kind: TrackKind
    package let grid: OutputGrid
    /// Ticks from one frame of the track to the next: one frame of the program, or two for a track at half the frame
    /// rate.
    private let ticksPerPicture: Int64
    /// Number of dropped packets: before the first tick or the first IDR frame, with a time that does not advance,
    /// empty, too large, or out of range.
    package private(set) var droppedPackets = 0
    /// End of the last sample's presentation, in ticks of the track's timescale; `nil` before the first.
    package private(set) var endTime: Int64?

    /// Whether key frames at the start of a part get a fragment of their own.
    private let isolatesKeys: Bool
    /// Segment boundaries.
    private var boundaries: SegmentBoundaries
    /// Metadata for frames that have not arrived yet.
    package var cues = PendingFrameMetadata()
    private let firstTime: Int64
    private var currentPart: Int64
    private var samples: [PlacedSample] = []
    private var openBytes = 0
    private var parts: [FinishedPart] = []
    private var lastTime: Int64?
    private var lastDTS: Int64?
    /// Presentation time of the stream's first frame in ticks; `nil` before it.
    private var firstShown: Int64?
    /// Number of frames so far whose `dts` is before ``firstShown``.
    private var picturesAhead: Int64 = 0
    /// Reorder delay in ticks; known from the first frame on whose `dts` is not before ``firstShown``.
    private var reorderDelay: Int64?

    /// Makes a segmenter for a worker's run.
    ///
    /// - Parameters:
    ///   - firstTick: First frame of the run, counted from the room's origin; rounded down to the start of a segment.
    ///   - boundaries: Segment boundaries; `nil`: the regular ones of the grid.
    ///   - frameStep: Program frames from one frame of the track to the next; a part must contain a whole number of the
    ///     track's frames.
    ///   - isolatesKeys: Whether a key frame at the start of a part gets a fragment of its own, for an I-frame
    ///     playlist.
    package init(
        kind: TrackKind, grid: OutputGrid, firstTick: Int64, boundaries: SegmentBoundaries? = nil, frameStep: Int = 1,
        isolatesKeys: Bool = false
    ) {
        self.isolatesKeys = isolatesKeys
        self.kind = kind
        self.grid = grid
        let boundaries = boundaries ?? SegmentBoundaries(grid: grid)
        self.boundaries = boundaries
        self.ticksPerPicture = OutputGrid.ticksPerFrame * Int64(max(1, frameStep))
        let segmentIndex = boundaries.segmentIndex(
            ofFrame: min(max(0, firstTick), OutputGrid.lastTick / OutputGrid.ticksPerFrame))
        self.currentPart = segmentIndex * Int64(grid.partsPerSegment)
        self.firstTime = boundaries.startOfPart(self.currentPart, of: kind)
    }

    /// Adds the next packet in decoding order.
    ///
    /// - Returns: The parts and segments that the packet has completed, in order; usually none.
    package mutating func append(_ packet: CodedPacket) -> [Output] {
        guard var sample = self.place(packet) else {
            self.droppedPackets += 1
            return []
        }
        if self.kind == .video {
            let units = self.cues.takeUnits(
                at: sample.pts / OutputGrid.ticksPerFrame, isKey: sample.isKey,
                step: self.ticksPerPicture / OutputGrid.ticksPerFrame)
            if !units.isEmpty { sample = sample.carrying(units) }
        }
        var output: [Output] = []
        let part = self.boundaries.part(at: sample.time, of: self.kind)
        if part > self.currentPart { self.advance(to: part, &output) }
        self.samples.append(sample)
        self.openBytes += sample.range.count
        let shownUntil = max(sample.pts, sample.time) + sample.nominal
        self.endTime = max(self.endTime ?? 0, self.kind == .video ? sample.pts + sample.nominal : shownUntil)
        // If nothing can follow in this part, close it now instead of waiting for the next packet.
        let next = self.boundaries.partAfter(self.currentPart)
        if sample.time + sample.nominal >= self.boundaries.startOfPart(next, of: self.kind) {
            self.advance(to: next, &output)
        }
        return output
    }

    /// Ends the track: returns the last part and segment, which are usually shorter than the others.
    ///
    /// - Parameter end: For audio, the end of the video in ticks of the audio timescale: frames that start at or after
    ///   it are removed. `nil` removes nothing.
    package mutating func finish(cuttingAt end: Int64? = nil) -> [Output] {
        var output: [Output] = []
        if !self.samples.isEmpty {
            let partEnd = self.boundaries.startOfPart(self.currentPart + 1, of: self.kind)
            self.closePart(end: min(partEnd, max(self.endTime ?? 0, (self.lastTime ?? 0) + 1)), &output)
        }
        guard !self.parts.isEmpty else { return output }
        let segment = self.takeSegment(segmentIndex: self.grid.segmentIndex(ofPart: self.currentPart))
        if let end {
            if let trimmed = segment.trimmed(to: end) { output.append(.segment(trimmed)) }
        } else {
            output.append(.segment(segment))
        }
        return output
    }

    /// Takes over a part of the track that a previous worker has published; only before the first packet.
    ///
    /// - Returns: The part, and the segment that it completes; empty if the part is not the next one or a packet has
    ///   been added.
    package mutating func restore(_ part: FinishedPart) -> [Output] {
        guard part.number == self.currentPart, self.samples.isEmpty, self.lastDTS == nil else { return [] }
        self.parts.append(part)
        self.endTime = part.end
        self.lastTime = part.end - (self.kind == .video ? OutputGrid.ticksPerFrame : 1)
        var output: [Output] = [.part(part)]
        self.advance(to: self.boundaries.partAfter(part.number), &output)
        return output
    }

    /// Begins a new segment at a frame. No packet of this frame or a later one may have been added.
    ///
    /// - Returns: The part and segments that end before the frame; empty if the track's media does not reach the frame
    ///   yet: then the next packet completes them.
    package mutating func cut(at frame: Int64) -> [Output] {
        guard let segmentIndex = self.boundaries.cut(at: frame), let last = self.lastTime else { return [] }
        let first = segmentIndex * Int64(self.grid.partsPerSegment)
        let start = self.boundaries.startOfPart(first, of: self.kind)
        let end = self.samples.last.map { $0.time + $0.nominal } ?? (self.parts.last?.end ?? last)
        guard first > self.currentPart, !(self.samples.isEmpty && self.parts.isEmpty), end >= start else { return [] }
        var output: [Output] = []
        self.advance(to: first, &output)
        return output
    }

    /// Completes everything that begins before a frame, which is the first frame of a segment and follows the track's
    /// last packet.
    ///
    /// - Returns: The parts and segments before the frame that have not been returned yet.
    package mutating func close(before frame: Int64) -> [Output] {
        let segmentIndex = self.boundaries.segmentIndex(ofFrame: frame)
        let first = segmentIndex * Int64(self.grid.partsPerSegment)
        guard self.boundaries.firstFrame(ofSegment: segmentIndex) == frame, first > self.currentPart,
            !(self.samples.isEmpty && self.parts.isEmpty)
        else { return [] }
        var output: [Output] = []
        self.advance(to: first, &output)
        return output
    }

    /// Prepares for packets of another stream; the next one must be an IDR frame.
    ///
    /// - Parameter isPlaced: Whether the packets are a publisher's own, passed through. The `dts` of their IDR frames
    ///   equals the presentation time, so no reorder delay is added, and they get no closed captions.
    package mutating func beginStream(isPlaced: Bool) {
        self.lastDTS = nil
        self.firstShown = nil
        self.picturesAhead = 0
        self.reorderDelay = isPlaced ? 0 : nil
        self.cues.setPassed(isPlaced)
    }

    // MARK: Placing

    /// Computes the packet's time on the track's timeline; `nil` if the packet must be dropped.
    private mutating func place(_ packet: CodedPacket) -> PlacedSample? {
        guard packet.kind == self.kind, packet.timescale > 0, packet.count > 0,
            self.openBytes + packet.count <= Self.largestPart
        else { return nil }
        let pts = self.ticks(packet.pts, packet.timescale)
        let dts = self.ticks(packet.dts, packet.timescale)
        guard pts >= self.firstTime, pts < OutputGrid.lastTick, dts.magnitude < UInt64(OutputGrid.lastTick) else {
            return nil
        }
        let time: Int64
        let nominal: Int64
        switch self.kind {
        case .audio:
            if let last = self.lastTime, pts <= last { return nil }
            time = pts
            let stated = TimeMath.rescale(
                packet.duration, from: Int64(packet.timescale), to: Int64(self.grid.sampleRate))
            nominal =
                (1...4 * OutputGrid.samplesPerAudioFrame).contains(stated) ? stated : OutputGrid.samplesPerAudioFrame
        case .video:
            guard packet.isKey || self.lastDTS != nil else { return nil }
            if let last = self.lastDTS, dts <= last { return nil }
            nominal = self.ticksPerPicture
            time = self.decodingTime(pts: pts, dts: dts, isKey: packet.isKey)
        }
        let segmentIndex = self.grid.segmentIndex(ofPart: self.boundaries.part(at: time, of: self.kind))
        guard segmentIndex - self.grid.segmentIndex(ofPart: self.currentPart) <= Self.longestJump else { return nil }
        self.lastTime = time
        self.lastDTS = dts
        return PlacedSample(
            memory: packet.memory, range: packet.range, time: time, pts: pts, nominal: nominal, isKey: packet.isKey)
    }

    /// Returns a frame's decoding time on the track's timeline. An encoder that reorders by n frames starts with n
    /// frames whose `dts` is before the first IDR frame's `pts`; from then on the `dts` are the presentation times in
    /// sorted order. Adding n frames to `dts` gives a decoding time that is never later than the frame's presentation,
    /// even if frames are missing. n is counted and not taken from the first difference between `pts` and `dts`,
    /// because a missing frame at the start makes that difference larger.
    private mutating func decodingTime(pts: Int64, dts: Int64, isKey: Bool) -> Int64 {
        let first = self.firstShown ?? pts
        self.firstShown = first
        if self.reorderDelay == nil {
            if dts >= first {
                self.reorderDelay = self.picturesAhead * self.ticksPerPicture
            } else {
                self.picturesAhead = min(self.picturesAhead + 1, Self.deepestReorder)
            }
        }
        var time = self.reorderDelay.map { dts + $0 } ?? first
        time = max(time, self.boundaries.startOfPart(self.currentPart, of: .video))
        if isKey { time = max(time, pts) }
        if let last = self.lastTime { time = max(time, last + OutputGrid.ticksPerFrame) }
        return time
    }

    private func ticks(_ value: Int64, _ timescale: Int32) -> Int64 {
        switch self.kind {
        case .audio: TimeMath.rescale(value, from: Int64(timescale), to: Int64(self.grid.sampleRate))
        case .video:
            OutputGrid.ticksPerFrame
                * min(
                    max(TimeMath.rescale(value, from: Int64(timescale), to: Int64(self.grid.fps)), -Self.lastFrame),
                    Self.lastFrame)
        }
    }

    // MARK: Closing

    private mutating func advance(to part: Int64, _ output: inout [Output]) {
        if !self.samples.isEmpty {
            self.closePart(end: self.boundaries.startOfPart(self.currentPart + 1, of: self.kind), &output)
        }
        let target = self.grid.segmentIndex(ofPart: part)
        var segmentIndex = self.grid.segmentIndex(ofPart: self.currentPart)
        while segmentIndex < target {
            output.append(.segment(self.takeSegment(segmentIndex: segmentIndex)))
            segmentIndex += 1
        }
        self.currentPart = part
    }

    private mutating func closePart(end: Int64, _ output: inout [Output]) {
        var samples = self.samples
        if self.kind == .video {
            Self.fit(&samples, start: self.boundaries.startOfPart(self.currentPart, of: .video), end: end)
        }
        let (grid, kind) = (self.grid, self.kind)
        let messages = self.cues.takeMessages { grid.ticks(ofFrame: $0, kind) < end }
        let part = FinishedPart(
            number: self.currentPart, kind: self.kind, samples: samples, end: self.kind == .video ? end : nil,
            startsSegment: self.parts.isEmpty, messages: messages, isolatesKey: self.isolatesKeys)
        self.samples.removeAll(keepingCapacity: true)
        self.openBytes = 0
        self.parts.append(part)
        output.append(.part(part))
    }

    /// Adjusts the times of a video part's samples so that the first one starts with the part and the last one ends
    /// with it; see invariant (2).
    private static func fit(_ samples: inout [PlacedSample], start: Int64, end: Int64) {
        if samples[0].time > start {
            // The frame is shown from the part's start instead of leaving a hole, if it is the first frame in
            // presentation order.
            if samples[0].pts == samples[0].time { samples[0].pts = start }
            samples[0].time = start
        }
        var limit = end
        for index in samples.indices.reversed() {
            samples[index].time = min(samples[index].time, limit - 1)
            limit = samples[index].time
        }
    }

    private mutating func takeSegment(segmentIndex: Int64) -> FinishedSegment {
        let timescale = self.grid.timescale(of: self.kind)
        let parts = self.parts
        self.parts.removeAll(keepingCapacity: true)
        guard let first = parts.first, let last = parts.last else {
            let perSegment = Int64(self.grid.partsPerSegment)
            let start = self.boundaries.startOfPart(segmentIndex * perSegment, of: self.kind)
            let end = self.boundaries.startOfPart((segmentIndex + 1) * perSegment, of: self.kind)
            return FinishedSegment(
                segmentIndex: segmentIndex, kind: self.kind, start: start,
                duration: MediaDuration(ticks: end - start, timescale: timescale), parts: [])
        }
        return FinishedSegment(
            segmentIndex: segmentIndex, kind: self.kind, start: first.start,
            duration: MediaDuration(ticks: last.end - first.start, timescale: timescale), parts: parts)
    }
}
