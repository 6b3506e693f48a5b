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
        self.sampleCount = 0
        self.samples = []
        self.messages = []
    }

    /// - Parameters:
    ///   - samples: In decoding order with rising times; not empty.
    ///   - end: Where the part ends in ticks; the last sample reaches that far. `nil`: by its nominal duration.
    ///   - messages: What happens in it.
    init(
        number: Int64, kind: TrackKind, samples: [GridSample], end: Int64?, startsSegment: Bool,
        messages: [EventMessage] = []
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
        // Numbered by the grid: rising within a run and across the runs of a room, and the same in every rendition.
        self.memory = FragmentWriter.fragment(
            kind: kind, sequence: UInt32(truncatingIfNeeded: number &+ 1), decodeTime: start, samples: rows,
            startsSegment: startsSegment, messages: messages)
    }
}
