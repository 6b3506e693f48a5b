import HLS
import MediaTypes
import Packager

/// The playlists of a finished recording. They list all recorded segments under their live names, with
/// `EXT-X-PLAYLIST-TYPE:VOD`. Spec: rfc8216bis §4.4.3.5, §6.2.1.
struct VODPlaylists: Sendable {
    let segmentSets: [ListedSegmentSet]
    let ranges: [DateRange]

    /// Returns the name and text of each media playlist and I-frame playlist, in the order of the tracks.
    func rendered() throws(MediaError) -> [(name: String, text: String)] {
        var names: [String] = []
        for segmentSet in self.segmentSets {
            for track in segmentSet.tracks where !names.contains(track.name) { names.append(track.name) }
        }
        var playlists: [(name: String, text: String)] = []
        for name in names {
            let window = try self.window(of: name)
            var playlist = MediaPlaylist(window, dateRanges: self.dateRanges(self.segments(of: name)))
            playlist.isVOD = true
            playlists.append((RecordedNames.playlist(name), playlist.rendered()))
            guard window.segments.contains(where: { !$0.keyFrames.isEmpty }) else { continue }
            var iFrames = MediaPlaylist(iFramesOf: window)
            iFrames.isVOD = true
            playlists.append((RecordedNames.iFramePlaylist(name), iFrames.rendered()))
        }
        return playlists
    }

    /// Returns the segments of a track as they were listed. A track that a later worker added begins later than others.
    private func segments(of name: String) -> [Segment] {
        let listed = self.segmentSets.map { segmentSet in segmentSet.tracks.first { $0.name == name }?.segment }
        return listed.drop { $0 == nil }.compactMap { $0 }
    }

    private func window(of name: String) throws(MediaError) -> PlaylistWindow {
        // Segments that were not recorded are not listed as gaps: the segments around them are adjacent, with a
        // discontinuity.
        var holes: Set<Int64> = []
        for (segmentSet, next) in zip(self.segmentSets, self.segmentSets.dropFirst())
        where next.mediaSequence != segmentSet.mediaSequence + 1 {
            holes.insert(next.mediaSequence)
        }
        let first =
            self.segmentSets.firstIndex { segmentSet in segmentSet.tracks.contains { $0.name == name } } ?? 0
        // §6.2.4: a track that starts later continues the discontinuity sequence; the discontinuities before it are not
        // in its own playlist.
        let breaks = self.segmentSets.indices.prefix(first + 1).dropFirst().count { index in
            holes.contains(self.segmentSets[index].mediaSequence)
                || self.segmentSets[index].tracks.contains { $0.segment.discontinuity }
        }
        let segments = self.segments(of: name)
        // §6.2.4: one target duration for all playlists.
        let longest = self.segmentSets.flatMap(\.tracks).map(\.segment.duration.roundedSeconds).max() ?? 1
        var window = try PlaylistWindow(
            style: .event, targetDuration: Int(clamping: max(1, longest)), slackSeconds: 0,
            segments: segments.enumerated().map { index, segment in
                Self.numbered(segment, index, follows: !holes.contains(segment.mediaSequence))
            }, nextMediaSequence: 0,
            discontinuitySequence: Int64(breaks), retired: [], longestDuration: 0, iFrameSequence: 0)
        window.end()
        return window
    }

    /// Returns a segment with its number in the VOD playlist, which starts at 0 regardless of the live numbers. The
    /// first segment has no discontinuity.
    private static func numbered(_ segment: Segment, _ index: Int, follows: Bool) -> Segment {
        Segment(
            mediaSequence: Int64(index), uri: segment.uri, start: segment.start, duration: segment.duration,
            programDate: segment.programDate, map: segment.map,
            discontinuity: (segment.discontinuity || !follows) && index > 0,
            gap: segment.gap, byteCount: segment.byteCount, independent: segment.independent,
            keyFrames: segment.keyFrames)
    }

    private func dateRanges(_ segments: [Segment]) -> DateRangeList {
        var list = DateRangeList()
        let places = SegmentDateIndex(segments.map(\.programDate))
        let changes = self.ranges.flatMap { range -> [(Int64, DateRange.Change)] in
            let opened = DateRange(
                id: range.id, rangeClass: range.rangeClass, start: range.start, attributes: range.attributes)
            return [(range.start, .opened(opened))] + (range.end.map { [($0, .closed(id: range.id, end: $0))] } ?? [])
        }
        for (date, change) in changes.enumerated().sorted(by: { ($0.element.0, $0.offset) < ($1.element.0, $1.offset) })
            .map(\.element)
        {
            list.list(change, mediaSequence: Int64(places.last(notAfter: date) ?? 0), at: date)
        }
        return list
    }
}
