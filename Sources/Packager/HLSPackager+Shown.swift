import HLS
import MediaKernels
import MediaTypes

/// A segment that a previous worker's live-edge playlist has listed and that is not in the state file.
struct ShownSegment: Sendable {
    /// The incarnation (run number) in the segment's file name; `nil` if no playlist has listed that name.
    let incarnation: Int64?
    /// Start time in ticks of the track's timescale since the room's origin.
    let start: Int64
    let duration: Int64
    let discontinuity: Bool
    /// The segment's parts as the previous worker listed them; empty if the segment is a gap.
    let parts: [FinishedPart]
    /// URIs of ``parts``.
    let names: [String]
    /// The segment's initialization segment; `nil` for a gap.
    let map: (name: String, bytes: [UInt8])?
}

/// The segments of a track that a previous worker's live-edge playlist has listed after those in the state file.
struct ShownTrack: Sendable {
    /// The segments with consecutive media sequence numbers, beginning with the state file's next number.
    var segments: [ShownSegment] = []
    /// Returns the initialization segments in use, each with the index of the first segment that it applies to. The
    /// last one is that of this run, `last`.
    func maps(before last: (name: String, bytes: [UInt8])) -> [(index: Int, name: String, bytes: [UInt8])] {
        var maps: [(index: Int, name: String, bytes: [UInt8])] = []
        for (index, segment) in self.segments.enumerated() {
            guard let map = segment.map, map.name != maps.last?.name else { continue }
            // A gap takes the initialization segment of the next segment.
            maps.append((maps.isEmpty ? 0 : index, map.name, map.bytes))
        }
        if maps.last?.name != last.name { maps.append((maps.isEmpty ? 0 : self.segments.count, last.name, last.bytes)) }
        return maps
    }
}

/// The live-edge files that the previous worker has left in addition to the state file.
struct PreviousLiveEdge: Sendable {
    var record = LiveEdgeRecord(tracks: [], recorded: 0)
    var mark: LiveEdgeMark?
    /// Maximum number of segments after those in the state file that a mark can turn into gaps: more would take hours
    /// without a single write of the state file.
    private static let mostLost: Int64 = 4_096

    init(_ store: any SegmentStore) {
        self.record = store.read(LiveEdgeRecord.name).flatMap { LiveEdgeRecord(json: $0) } ?? self.record
        self.mark = store.read(LiveEdgeMark.name).flatMap { LiveEdgeMark($0) }
    }

    /// Makes an empty value for a new room, which has no leftover files.
    init() {}

    /// The record's entry of a track; `nil` if it has none.
    func track(_ name: String) -> LiveEdgeRecord.Track? { self.record.tracks.first { $0.name == name } }

    /// Finds out whether viewers saw more of a segment than the record contains.
    ///
    /// - Parameters:
    ///   - parts: Number of the segment's parts in the record.
    ///   - next: The state file's next media sequence number.
    /// - Returns: The incarnation (run number) of the worker that listed the lost media; `nil` if nothing is lost.
    func isLost(_ number: Int64, parts: Int, of name: String, next: Int64) -> Int64? {
        guard let mark = self.mark, let reach = mark.tracks.first(where: { $0.name == name }),
            number < next &+ Self.mostLost,
            number < reach.whole || (number == reach.whole && parts < reach.parts)
        else { return nil }
        return mark.incarnation
    }
}

extension HLSPackager {
    /// Returns the segments after those in the state file whose URIs viewers of the previous worker know. Stored
    /// segments are returned unchanged, others become gaps: a URI that a playlist has used never names other media.
    ///
    /// - Parameter closes: If true, the incomplete last segment is also returned, with the parts it has.
    func shown(
        of track: TrackPublication, in previousEdge: PreviousLiveEdge, from next: Int64, closes: Bool
    ) -> ShownTrack {
        var shown = ShownTrack()
        let (name, old) = (track.names.track, previousEdge.track(track.names.track))
        var maps: [String: [UInt8]] = [:]
        func map(_ name: String) -> (name: String, bytes: [UInt8])? {
            guard let bytes = maps[name] ?? self.store.read(name) else { return nil }
            maps[name] = bytes
            return (name, bytes)
        }
        func gap(_ incarnation: Int64?, _ whole: LiveEdgeRecord.CompleteSegment? = nil) -> ShownSegment {
            ShownSegment(
                incarnation: incarnation, start: whole?.start ?? 0, duration: whole?.duration ?? 0,
                discontinuity: whole?.discontinuity ?? false, parts: [], names: [], map: nil)
        }
        var number = next
        while true {
            let rows = old?.rows.filter { $0.mediaSequence == number } ?? []
            if let whole = old?.whole.first(where: { $0.mediaSequence == number }) {
                if !whole.gap, let parts = self.parts(rows, of: track), let first = rows.first,
                    let map = map(whole.map),
                    first.start == whole.start
                {
                    shown.segments.append(
                        ShownSegment(
                            incarnation: whole.incarnation, start: whole.start, duration: whole.duration,
                            discontinuity: whole.discontinuity, parts: parts, names: rows.map(\.name), map: map))
                } else {
                    shown.segments.append(gap(whole.incarnation, whole))
                }
            } else if let incarnation = previousEdge.isLost(number, parts: rows.count, of: name, next: next) {
                shown.segments.append(gap(incarnation))
            } else {
                if closes, let old, let first = rows.first, let parts = self.parts(rows, of: track),
                    let last = parts.last, let map = map(old.map)
                {
                    shown.segments.append(
                        ShownSegment(
                            incarnation: nil, start: first.start, duration: last.end - first.start,
                            discontinuity: first.discontinuity, parts: parts, names: rows.map(\.name), map: map))
                }
                return shown
            }
            number += 1
        }
    }

    /// Reads the contiguous parts of a segment; `nil` if one of the parts is missing.
    private func parts(_ rows: [LiveEdgeRecord.Row], of track: TrackPublication) -> [FinishedPart]? {
        guard !rows.isEmpty, rows.map(\.index) == Array(rows.indices) else { return nil }
        var parts: [FinishedPart] = []
        for row in rows {
            guard parts.last.map({ row.start >= $0.end }) ?? true,
                let bytes = self.store.read(row.name).flatMap({ track.opened($0, of: row.mediaSequence) }),
                bytes.count == row.byteCount
            else { return nil }
            parts.append(
                FinishedPart(
                    number: Int64(row.index), start: row.start, duration: row.duration, memory: PacketMemory(bytes),
                    independent: row.independent))
        }
        return parts
    }

    /// Whether each segment lies within its interval of the segment grid.
    func fits(_ shown: ShownTrack, _ kind: TrackKind, _ plan: Plan) -> Bool {
        let grid = self.settings.grid
        return shown.segments.enumerated().allSatisfy { index, segment in
            guard segment.duration > 0 else { return true }
            let frames = plan.boundaries.frames(ofSegment: plan.firstSegmentIndex + Int64(index))
            let ticks =
                kind == .audio
                ? grid.audioFrames(frames)
                : grid.ticks(ofFrame: frames.lowerBound, .video)..<grid.ticks(ofFrame: frames.upperBound, .video)
            return segment.start >= ticks.lowerBound && segment.start + segment.duration <= ticks.upperBound
        }
    }

    /// Converts a previous worker's segment to the form in which the segmenter returns completed segments.
    func finished(
        _ segment: ShownSegment, _ track: TrackPublication, segmentIndex: Int64, _ boundaries: SegmentBoundaries
    )
        -> FinishedSegment
    {
        let grid = self.settings.grid
        let frames = boundaries.frames(ofSegment: segmentIndex)
        let start = grid.ticks(ofFrame: frames.lowerBound, track.kind)
        let first = segmentIndex * Int64(grid.partsPerSegment)
        let length = grid.ticks(ofFrame: frames.upperBound, track.kind) - start
        return FinishedSegment(
            segmentIndex: segmentIndex, kind: track.kind, start: segment.duration > 0 ? segment.start : start,
            duration: MediaDuration(
                ticks: segment.duration > 0 ? segment.duration : length, timescale: track.timescale),
            parts: segment.parts.map { part in
                FinishedPart(
                    number: first + part.number, start: part.start, duration: part.duration, memory: part.memory,
                    independent: part.independent)
            })
    }

    /// Groups a previous worker's segments over all tracks, for publishing; they contain no media of this run.
    func alignedSegments(_ shown: [ShownTrack], _ publication: Publication, from segmentIndex: Int64)
        -> [AlignedSegment]
    {
        let grid = self.settings.grid
        var frame = publication.nextFrame
        let count = shown.map(\.segments.count).max() ?? 0
        return (0..<count).map { index in
            let at = segmentIndex + Int64(index)
            let row = zip(shown, publication.tracks).map { shown, track in
                // A segment of unknown duration gets the regular length.
                shown.segments.indices.contains(index) && shown.segments[index].duration > 0
                    ? self.finished(shown.segments[index], track, segmentIndex: at, SegmentBoundaries(grid: grid)) : nil
            }
            var complete = AlignedSegment(segmentIndex: at, segments: row)
            let ends = row.compactMap { segment -> Int64? in
                segment.map {
                    TimeMath.rescale(
                        $0.end, from: Int64($0.duration.timescale), to: Int64(grid.fps), rounding: .nearest)
                }
            }
            let end = max(frame + 1, ends.max() ?? frame + Int64(grid.segmentFrames))
            complete.frames = frame..<end
            frame = end
            complete.isBreak = shown.contains {
                $0.segments.indices.contains(index) && $0.segments[index].discontinuity
            }
            complete.isFollowed = index + 1 < count
            return complete
        }
    }
}
