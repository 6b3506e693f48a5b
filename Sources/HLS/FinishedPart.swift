package import MediaKernels
import MediaTypes

/// A finished part of a segment: its bytes no longer change.
package struct FinishedPart: Sendable {
    /// Number of the part, counted from the room's origin and the same in every track.
    package let number: Int64
    /// Start time in ticks of the track's timescale since the room's origin.
    package let start: Int64
    /// Duration in ticks of the track's timescale; more than 0.
    package let duration: Int64
    /// The bytes of the part: a movie fragment, or two if the key frame has its own. Before it are the segment type box
    /// (`styp`), in the first part of a segment, and event messages (`emsg`).
    package let memory: PacketMemory
    /// Whether the part contains an IDR frame; always true for audio.
    package let independent: Bool
    /// Whether the part begins with an IDR frame; always true for audio. For a part that another worker wrote, equal to
    /// ``independent``.
    package let startsWithKey: Bool
    /// Byte range in ``memory`` of the fragment that contains only the part's first frame, a key frame. `nil` if the
    /// part does not begin with a key frame or the key frame has no fragment of its own.
    package let keyFrame: Range<Int>?
    /// Number of samples; 0 if another worker wrote the part.
    package let sampleCount: Int
    /// The samples of an audio part, so that the part can still be shortened; empty for video, and if another worker
    /// wrote the part.
    let samples: [PlacedSample]
    /// Timed metadata of an audio part; empty for video, and if another worker wrote the part.
    let messages: [EventMessage]

    package var end: Int64 { self.start + self.duration }

    /// Makes a part that a previous worker has published.
    ///
    /// - Parameters:
    ///   - start: Ticks of the track's timescale since the room's origin, 0 or more.
    ///   - duration: Ticks; more than 0.
    ///   - memory: The bytes as that worker wrote them.
    package init(number: Int64, start: Int64, duration: Int64, memory: PacketMemory, independent: Bool) {
        self.number = number
        self.start = start
        self.duration = duration
        self.memory = memory
        self.independent = independent
        self.startsWithKey = independent
        self.keyFrame = Self.isolatedFragment(in: memory)
        self.sampleCount = 0
        self.samples = []
        self.messages = []
    }

    /// Makes a part from samples.
    ///
    /// - Parameters:
    ///   - samples: The samples in decoding order with increasing times; not empty.
    ///   - end: End of the part in ticks, which is where the last sample ends. `nil`: the last sample has its nominal
    ///     duration.
    ///   - messages: Timed metadata of the part.
    ///   - isolatesKey: Whether a key frame at the start of the part gets a fragment of its own.
    init(
        number: Int64, kind: TrackKind, samples: [PlacedSample], end: Int64?, startsSegment: Bool,
        messages: [EventMessage] = [], isolatesKey: Bool = false
    ) {
        let start = samples.first?.time ?? 0
        var rows: [PartSample] = []
        rows.reserveCapacity(samples.count)
        var stop = start
        for (index, sample) in samples.enumerated() {
            let next = index + 1 < samples.count ? samples[index + 1].time : end ?? (sample.time + sample.nominal)
            let duration = max(1, next - sample.time)
            stop = sample.time + duration
            let flags =
                kind == .audio || sample.isKey ? FragmentWriter.syncSample : FragmentWriter.dependentSample
            rows.append(
                PartSample(
                    memory: sample.memory, range: sample.range, duration: UInt32(clamping: duration), flags: flags,
                    compositionOffset: Int32(clamping: sample.pts - sample.time)))
        }
        self.number = number
        self.start = start
        self.duration = max(1, stop - start)
        // Spec: rfc8216bis §4.4.4.9: a part is independent if it contains an IDR frame; a publisher's key frames may be
        // anywhere in a part.
        self.independent = kind == .audio || samples.contains { $0.isKey }
        self.startsWithKey = kind == .audio || samples.first?.isKey == true
        self.sampleCount = samples.count
        self.samples = kind == .audio ? samples : []
        self.messages = kind == .audio ? messages : []
        if isolatesKey, kind == .video {
            let made = Self.isolated(
                number: number, start: start, rows, startsSegment: startsSegment, messages,
                startsWithKey: self.startsWithKey)
            self.memory = made.0
            self.keyFrame = made.1
            return
        }
        self.keyFrame = nil
        // The sequence number follows from the part's number: it increases within a run and across the runs of a room,
        // and is the same in every rendition.
        self.memory = FragmentWriter.fragment(
            kind: kind, sequence: UInt32(truncatingIfNeeded: number &+ 1), decodeTime: start, samples: rows,
            startsSegment: startsSegment, messages: messages)
    }
}

/// Key frames in a fragment of their own, for I-frame playlists.
extension FinishedPart {
    /// Writes two fragments if the part begins with a key frame and has further frames, otherwise one. Each part
    /// reserves two sequence numbers, so that the numbers increase in either case.
    fileprivate static func isolated(
        number: Int64, start: Int64, _ rows: [PartSample], startsSegment: Bool, _ messages: [EventMessage],
        startsWithKey: Bool
    ) -> (PacketMemory, Range<Int>?) {
        let sequence = UInt32(truncatingIfNeeded: (number &+ 1) &* 2)
        let head = FragmentWriter.head(startsSegment: startsSegment, messages: messages)
        func fragment(_ sequence: UInt32, _ time: Int64, _ rows: [PartSample], _ head: [UInt8]) -> PacketMemory {
            FragmentWriter.fragment(
                kind: .video, sequence: sequence, decodeTime: time, samples: rows, startsSegment: false, after: head)
        }
        guard startsWithKey, let key = rows.first else { return (fragment(sequence, start, rows, head), nil) }
        let first = fragment(sequence, start, [key], head)
        let range = head.count..<first.count
        guard rows.count > 1 else { return (first, range) }
        return (
            fragment(sequence &+ 1, start &+ Int64(key.duration), Array(rows.dropFirst()), first.bytes), range
        )
    }

    /// Returns the byte range of the first fragment of a part that another worker wrote; `nil` unless that fragment
    /// contains a single key frame.
    fileprivate static func isolatedFragment(in memory: PacketMemory) -> Range<Int>? {
        let reader = BoxReader(bytes: memory.bytes)
        guard let boxes = reader.boxes(in: 0..<memory.count),
            let place = boxes.firstIndex(where: { $0.type == "moof" }), boxes.indices.contains(place + 1),
            boxes[place + 1].type == "mdat", let run = reader.first(["traf", "trun"], in: boxes[place].body),
            reader.u32(run.body.lowerBound + 4) == 1,
            // An audio part, or a single frame that depends on others, does not qualify: the sample must be marked as a
            // sync sample.
            let flags = reader.u32(run.body.lowerBound), flags & 0x400 != 0,
            let sample = reader.u32(run.body.lowerBound + (flags & 1 != 0 ? 20 : 16)), sample & 0x1_0000 == 0
        else { return nil }
        return boxes[place].range.lowerBound..<boxes[place + 1].range.upperBound
    }
}
