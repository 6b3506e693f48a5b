package import MediaKernels
import MediaTypes

/// A part whose bytes are final.
package struct FinishedPart: Sendable {
    /// Number of the part on the grid, counted from the room's origin.
    package let number: Int64
    /// Ticks of the track's timescale since the room's origin.
    package let start: Int64
    /// Ticks; more than 0.
    package let duration: Int64
    /// The fragment, with the segment type box in front where it is the first of its segment.
    package let memory: PacketMemory
    /// Holds an IDR picture; always true for sound.
    package let independent: Bool
    /// Begins with one.
    package let startsWithKey: Bool
    /// Where ``memory`` has the fragment of the picture it begins with, which is alone in it; `nil` where it begins with
    /// none, or that is not isolated.
    package let keyFrame: Range<Int>?
    /// 0 where another worker wrote it.
    package let sampleCount: Int
    /// The samples of a sound part, so that its end can still be cut; empty for video, and where another worker wrote it.
    let samples: [GridSample]
    /// As ``samples``.
    let messages: [EventMessage]

    package var end: Int64 { self.start + self.duration }

    /// A part that a worker before this one has published.
    ///
    /// - Parameters:
    ///   - start: Ticks of the track's timescale since the room's origin, 0 or more.
    ///   - duration: Ticks; more than 0.
    ///   - memory: As that worker wrote it.
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

    /// - Parameters:
    ///   - samples: In decoding order with rising times; not empty.
    ///   - end: Where the part ends in ticks; the last sample reaches that far. `nil`: by its nominal duration.
    ///   - messages: What happens in it.
    ///   - isolatesKey: A key frame at its beginning gets a fragment of its own.
    init(
        number: Int64, kind: TrackKind, samples: [GridSample], end: Int64?, startsSegment: Bool,
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
        // Spec: rfc8216bis §4.4.4.9: contains one; a publisher's own lie anywhere in a part.
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
        // Numbered by the grid: rising within a run and across the runs of a room, and the same in every rendition.
        self.memory = FragmentWriter.fragment(
            kind: kind, sequence: UInt32(truncatingIfNeeded: number &+ 1), decodeTime: start, samples: rows,
            startsSegment: startsSegment, messages: messages)
    }
}

/// A key frame that can be shown without what follows it.
extension FinishedPart {
    /// Two fragments where the part begins with a key frame, one otherwise; two numbers each, so that both rise.
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

    /// The first fragment of a part that another worker wrote, if it has one sample alone.
    fileprivate static func isolatedFragment(in memory: PacketMemory) -> Range<Int>? {
        let reader = BoxReader(bytes: memory.bytes)
        guard let boxes = reader.boxes(in: 0..<memory.count),
            let place = boxes.firstIndex(where: { $0.type == "moof" }), boxes.indices.contains(place + 1),
            boxes[place + 1].type == "mdat", let run = reader.first(["traf", "trun"], in: boxes[place].body),
            reader.u32(run.body.lowerBound + 4) == 1,
            // A part of sound, or one picture of many that depend on others, is none: it must be marked as a sync sample.
            let flags = reader.u32(run.body.lowerBound), flags & 0x400 != 0,
            let sample = reader.u32(run.body.lowerBound + (flags & 1 != 0 ? 20 : 16)), sample & 0x1_0000 == 0
        else { return nil }
        return boxes[place].range.lowerBound..<boxes[place + 1].range.upperBound
    }
}
