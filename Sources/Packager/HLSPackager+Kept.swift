import HLS
import MediaKernels
import MediaTypes

/// A complete segment that a previous worker has listed, with its parts.
struct ResumedSegment: Sendable {
    let mediaSequence: Int64
    let name: String
    /// The segment's parts.
    let rows: [LiveEdgeRecord.Row]
    /// The bytes of each part, in the order of ``rows``.
    let memories: [PacketMemory]
}

/// A track's media that a previous worker has listed at the live edge and that this worker lists again.
struct ResumedLiveEdge: Sendable {
    /// Segments with parts that the state file lists, in order.
    var segments: [ResumedSegment] = []
    /// The parts after ``segments``, in order, beginning with the first part of a segment.
    var parts: [FinishedPart] = []
    /// Parts that the previous worker listed after ``parts`` and that this worker has to replace.
    var replaced: [(part: FinishedPart, name: String, mediaSequence: Int64)] = []
    /// URIs that the previous worker gave to parts of this run, by part number: those of ``parts``, of complete
    /// segments before them, and the one in the preload hint.
    var names: [Int64: String] = [:]
    /// The frame after the last of ``parts``; 0 if there are none.
    var end: Int64 = 0
    /// Index of the segment that contains the first of ``parts``.
    var segmentIndex: Int64 = 0
    /// Whether the segment with that index begins with a discontinuity.
    var isBreak = false
}

extension HLSPackager {
    /// Reads the parts of a track that the previous worker has stored, as far as this run can continue them: contiguous
    /// parts on the regular grid with the initialization segment of this run, up to a frame at which slate can begin
    /// and before which no frame is missing.
    ///
    /// - Parameters:
    ///   - shown: The track's complete segments before those parts, from the first segment of the plan on.
    ///   - next: Media sequence number of the first segment of the plan.
    func kept(
        of track: TrackPublication, in previousEdge: PreviousLiveEdge, behind shown: ShownTrack, _ plan: Plan,
        number next: Int64, _ slate: Slate
    ) -> ResumedLiveEdge {
        let segmentIndex = plan.firstSegmentIndex
        var kept = ResumedLiveEdge()
        guard let old = previousEdge.track(track.names.track) else { return kept }
        kept.segments = self.segments(of: track, old.rows)
        let count = Int64(shown.segments.count)
        for (index, segment) in shown.segments.enumerated() {
            for (place, name) in segment.names.enumerated() {
                kept.names[(segmentIndex + Int64(index)) * Int64(self.settings.grid.partsPerSegment) + Int64(place)] =
                    name
            }
        }
        guard track.isInitializationWritten, old.map == track.map.uri else { return kept }
        kept.segmentIndex = segmentIndex + count
        let rows = old.rows.filter { $0.mediaSequence >= next + count }
        kept.isBreak = rows.first?.discontinuity == true
        return self.continued(kept, rows, old.hint, track, plan.boundaries, number: next + count, slate)
    }

    /// Adds the parts of segments that are not complete.
    private func continued(
        _ before: ResumedLiveEdge, _ rows: [LiveEdgeRecord.Row], _ hint: String, _ track: TrackPublication,
        _ boundaries: SegmentBoundaries,
        number next: Int64, _ slate: Slate
    ) -> ResumedLiveEdge {
        var kept = before
        let grid = self.settings.grid
        let (first, perSegment) = (kept.segmentIndex * Int64(grid.partsPerSegment), Int64(grid.partsPerSegment))
        var number = first
        var isWhole = true
        for row in rows {
            let ahead = row.mediaSequence - next
            guard ahead == (number - first) / perSegment, Int64(row.index) == (number - first) % perSegment,
                row.start..<row.start + row.duration == boundaries.ticks(ofPart: number, track.kind),
                let bytes = self.store.read(row.name).flatMap({ track.opened($0, of: row.mediaSequence) }),
                bytes.count == row.byteCount
            else {
                isWhole = false
                break
            }
            kept.parts.append(
                FinishedPart(
                    number: number, start: row.start, duration: row.duration, memory: PacketMemory(bytes),
                    independent: row.independent))
            kept.names[number] = row.name
            number = boundaries.partAfter(number)
        }
        // The preload hint is valid only if it follows the last row: then the record was written in time.
        if isWhole, hint.hasSuffix("-\(next + (number - first) / perSegment).\((number - first) % perSegment).m4s") {
            kept.names[number] = hint
        }
        // Slate of more than a part can only begin on a multiple of its length. It also cannot begin after a part in
        // which reordered frames are still outstanding, as in passed-through streams: one frame would be missing and
        // the next one shown twice.
        while let last = kept.parts.last,
            !boundaries.firstFrame(ofPart: number).isMultiple(of: Int64(slate.frames))
                || track.kind == .video && Self.isOpen(last)
        {
            kept.names[number] = nil
            number = last.number
            if let name = kept.names.removeValue(forKey: number) {
                kept.replaced.append((last, name, next + (number - first) / perSegment))
            }
            kept.parts.removeLast()
        }
        if number > first { kept.end = boundaries.firstFrame(ofPart: number) }
        return kept
    }

    /// Whether a part has outstanding reordered frames: one of its frames is displayed at or after the part's end, so a
    /// frame with an earlier display time follows in the next part.
    private static func isOpen(_ part: FinishedPart) -> Bool {
        guard let samples = SegmentSamples(part.memory.bytes) else { return false }
        return samples.fragments.contains { fragment in
            var time = fragment.decodeTime
            return fragment.samples.contains { sample in
                defer { time &+= Int64(sample.duration) }
                return time &+ Int64(sample.offset) >= part.end
            }
        }
    }

    /// Returns the parts of listed segments as ranges of the segments' files; a segment is omitted if its file does not
    /// consist of exactly those parts.
    func segments(of track: TrackPublication, _ rows: [LiveEdgeRecord.Row]) -> [ResumedSegment] {
        var kept: [ResumedSegment] = []
        for segment in track.window.segments where !segment.gap {
            let rows = rows.filter { $0.mediaSequence == segment.mediaSequence }
            guard !rows.isEmpty, rows.map(\.index) == Array(0..<rows.count),
                rows.reduce(0, { $0 &+ $1.byteCount }) == segment.byteCount,
                let bytes = self.store.read(segment.uri).flatMap({ track.opened($0, of: segment.mediaSequence) }),
                bytes.count == segment.byteCount
            else { continue }
            var start = 0
            var memories: [PacketMemory] = []
            for row in rows {
                memories.append(PacketMemory(Array(bytes[start..<start + row.byteCount])))
                start += row.byteCount
            }
            kept.append(
                ResumedSegment(mediaSequence: segment.mediaSequence, name: segment.uri, rows: rows, memories: memories))
        }
        return kept
    }

    /// Removes the live-edge files and parts that the previous worker has stored, because this run does not continue
    /// them or has no live edge.
    func forget(_ record: LiveEdgeRecord) {
        for name in [LiveEdgeRecord.name, LiveEdgeMark.name] + record.names.sorted() { try? self.store.remove(name) }
    }

    /// Returns the possible names of part files that previous workers wrote without listing or removing them.
    func unlistedParts(besides names: Set<String>) -> [String] {
        let before = self.claimed.incarnation - 1
        guard before >= 1 else { return [] }
        let next = self.claimed.nextMediaSequence
        var unlisted: [String] = []
        for track in self.claimed.tracks.map({ TrackNames(track: $0.name) }) {
            for incarnation in max(1, before - Self.orphanedRuns)...before {
                for number in max(0, next - 2)..<next + 2 {
                    for index in 0..<self.settings.grid.partsPerSegment {
                        unlisted.append(track.part(number, index: index, incarnation: incarnation))
                    }
                }
            }
        }
        return unlisted.filter { !names.contains($0) }
    }
}

extension SegmentBoundaries {
    /// Returns the time range of a part in the track's timescale: for video from its first frame to that of the next
    /// part, for audio the AAC frames that start in that range.
    fileprivate func ticks(ofPart number: Int64, _ kind: TrackKind) -> Range<Int64> {
        let first = self.firstFrame(ofPart: number)
        let frames = first..<max(first, self.firstFrame(ofPart: number + 1))
        switch kind {
        case .video:
            return self.grid.ticks(
                ofFrame: frames.lowerBound, .video)..<self.grid.ticks(
                    ofFrame: frames.upperBound, .video)
        case .audio: return self.grid.audioFrames(frames)
        }
    }
}
