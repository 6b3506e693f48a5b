package import MediaKernels
package import MediaTypes

/// The completed media of one track for one segment.
package struct FinishedSegment: Sendable {
    /// Index of the segment, counted from the room's origin and the same in every track.
    package let segmentIndex: Int64
    package let kind: TrackKind
    /// Start time in ticks of ``duration``'s timescale since the room's origin.
    package let start: Int64
    package let duration: MediaDuration
    /// The parts in order; empty if the track has no media for the segment, which is then listed as a gap.
    package let parts: [FinishedPart]

    package init(segmentIndex: Int64, kind: TrackKind, start: Int64, duration: MediaDuration, parts: [FinishedPart]) {
        self.segmentIndex = segmentIndex
        self.kind = kind
        self.start = start
        self.duration = duration
        self.parts = parts
    }

    /// Whether the segment has no media.
    package var gap: Bool { self.parts.isEmpty }
    /// End time in ticks of ``duration``'s timescale since the room's origin.
    package var end: Int64 { self.start + self.duration.ticks }
    /// Whether the segment begins with an IDR frame; always true for audio, false for video without parts.
    package var independent: Bool { self.parts.first?.startsWithKey ?? (self.kind == .audio) }
    package var byteCount: Int { self.parts.reduce(0) { $0 + $1.memory.count } }
    /// The bytes of the segment: those of its parts in order.
    package var pieces: [PacketMemory] { self.parts.map(\.memory) }

    /// The same segment without media, as a gap.
    package var emptied: FinishedSegment {
        FinishedSegment(
            segmentIndex: self.segmentIndex, kind: self.kind, start: self.start, duration: self.duration, parts: [])
    }

    /// Returns the same audio segment without the frames that start at or after `end`.
    ///
    /// - Parameter end: Ticks of ``duration``'s timescale since the room's origin.
    /// - Returns: The segment itself if nothing has to be removed; `nil` if no frame remains.
    package func trimmed(to end: Int64) -> FinishedSegment? {
        guard self.kind == .audio, let last = self.parts.last else { return self.start < end ? self : nil }
        guard last.samples.contains(where: { $0.time >= end }) || last.start >= end else { return self }
        var kept: [FinishedPart] = []
        for part in self.parts where part.start < end {
            let samples = part.samples.filter { $0.time < end }
            if samples.count == part.samples.count {
                kept.append(part)
            } else if !samples.isEmpty {
                kept.append(
                    FinishedPart(
                        number: part.number, kind: .audio, samples: samples, end: nil, startsSegment: kept.isEmpty,
                        messages: part.messages))
            }
        }
        guard let first = kept.first, let final = kept.last else { return nil }
        return FinishedSegment(
            segmentIndex: self.segmentIndex, kind: self.kind, start: first.start,
            duration: MediaDuration(ticks: final.end - first.start, timescale: self.duration.timescale), parts: kept)
    }
}
