package import MediaKernels
package import MediaTypes

/// What one track has for one segment slot of the grid.
package struct FinishedSegment: Sendable {
    /// Number of the slot, counted from the room's origin.
    package let slot: Int64
    package let kind: TrackKind
    /// Ticks of ``duration``'s timescale since the room's origin.
    package let start: Int64
    package let duration: MediaDuration
    /// In order; empty where the track had no sample in the whole slot, which is listed as a gap.
    package let parts: [FinishedPart]

    package init(slot: Int64, kind: TrackKind, start: Int64, duration: MediaDuration, parts: [FinishedPart]) {
        self.slot = slot
        self.kind = kind
        self.start = start
        self.duration = duration
        self.parts = parts
    }

    /// Nothing is in it.
    package var gap: Bool { self.parts.isEmpty }
    /// Ticks of ``duration``'s timescale since the room's origin.
    package var end: Int64 { self.start + self.duration.ticks }
    /// Begins with an IDR picture; always true for sound.
    package var independent: Bool { self.parts.first?.startsWithKey ?? (self.kind == .audio) }
    package var byteCount: Int { self.parts.reduce(0) { $0 + $1.memory.count } }
    /// The segment's bytes: its parts one after the other.
    package var pieces: [PacketMemory] { self.parts.map(\.memory) }

    /// The slot without anything in it.
    package var emptied: FinishedSegment {
        FinishedSegment(slot: self.slot, kind: self.kind, start: self.start, duration: self.duration, parts: [])
    }

    /// The same segment of sound without the frames that start at or after `end`.
    ///
    /// - Parameter end: Ticks of ``duration``'s timescale since the room's origin.
    /// - Returns: The segment itself where nothing is to be cut, `nil` where nothing stays.
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
            slot: self.slot, kind: self.kind, start: first.start,
            duration: MediaDuration(ticks: final.end - first.start, timescale: self.duration.timescale), parts: kept)
    }
}
