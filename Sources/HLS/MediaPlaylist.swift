import MediaTypes

/// The content of a media playlist, which can be rendered as text. The text depends only on this value and on the
/// arguments of ``rendered(reports:skipping:skippingDateRanges:)``.
///
/// Spec: rfc8216bis §4.4.3, §4.4.4.
package struct MediaPlaylist: Sendable {
    package let targetDuration: Int
    package let mediaSequence: Int64
    package let discontinuitySequence: Int64
    package let isEvent: Bool
    package let isEnded: Bool
    /// Whether the playlist is an ended recording that never changes again (`EXT-X-PLAYLIST-TYPE:VOD`).
    package var isVOD = false
    /// Whether the entries are key frames (`EXT-X-I-FRAMES-ONLY`); see ``init(iFramesOf:control:)``.
    package internal(set) var isIFramesOnly = false
    /// Whether the segments have initialization segments (`EXT-X-MAP`); MPEG-TS and WebVTT segments have none.
    package var hasMaps = true
    /// Whether the segments are WebVTT; see ``init(subtitlesLike:from:segment:)``.
    package internal(set) var isSubtitles = false
    package let segments: [Segment]
    /// The live edge of a low-latency playlist; `nil` for a playlist of a stream without parts.
    package let edge: LiveEdge?
    package let dateRanges: DateRangeList

    package init(_ window: PlaylistWindow, edge: LiveEdge? = nil, dateRanges: DateRangeList = DateRangeList()) {
        self.edge = edge
        self.dateRanges = dateRanges
        self.targetDuration = window.targetDuration
        self.mediaSequence = window.mediaSequence
        self.discontinuitySequence = window.discontinuitySequence
        self.isEvent = window.style == .event
        self.isEnded = window.isEnded
        self.segments = window.segments
    }

    /// Makes a playlist that also lists segments which a window no longer lists.
    ///
    /// - Parameters:
    ///   - earlier: The segments before those of `window`, with consecutive numbers.
    ///   - targetDuration: Target duration in seconds; that of the window is used if it is longer. A playlist that is
    ///     written less often needs a longer one (rfc8216bis §6.2.2).
    ///   - isIFramesOnly: Whether to make the I-frame playlist; see ``init(iFramesOf:control:)``.
    package init(
        earlier: [Segment], _ window: PlaylistWindow, targetDuration: Int, dateRanges: DateRangeList = DateRangeList(),
        isIFramesOnly: Bool = false
    ) {
        let segments = earlier + window.segments
        self.edge = nil
        self.dateRanges = isIFramesOnly ? DateRangeList() : dateRanges
        self.targetDuration = max(targetDuration, window.targetDuration)
        self.discontinuitySequence =
            window.discontinuitySequence &- Int64(earlier.count(where: \.discontinuity))
        self.isEvent = window.style == .event
        self.isEnded = window.isEnded
        guard isIFramesOnly else {
            self.mediaSequence = segments.first?.mediaSequence ?? window.mediaSequence
            self.segments = segments
            return
        }
        let skipped = earlier.reduce(0) { $0 &+ Int64($1.iFrameCount) }
        let first = (window.iFrameSequence ?? 0) &- skipped
        var entries: [Segment] = []
        for segment in segments { entries += segment.iFrames(numberedFrom: first &+ Int64(entries.count)) }
        self.mediaSequence = first
        self.segments = entries
        self.isIFramesOnly = true
    }

    /// `EXT-X-VERSION` of the full playlist: the lowest version that covers the tags in use, since players refuse
    /// versions they do not know (rfc8216bis §8). Delta updates have version 9 or 10.
    package var version: Int {
        if !self.hasMaps { return 3 }
        // 4: EXT-X-I-FRAMES-ONLY. 5: EXT-X-MAP in an I-frame playlist.
        if self.isIFramesOnly { return self.segments.isEmpty ? 4 : 5 }
        // 3: EXTINF with decimals. 6: EXT-X-MAP in a playlist that is not I-frames only. Parts need no higher version.
        return self.segments.isEmpty && self.edge?.open == nil ? 3 : 6
    }

    /// Number of segments that a delta update omits: those that end further than the skip boundary before the end of
    /// the last complete segment. 0 for a playlist of a stream without parts.
    ///
    /// Spec: rfc8216bis §6.2.5.1. Segments of an ended playlist are never skipped.
    package var skippableCount: Int {
        guard let edge = self.edge, !self.isEnded else { return 0 }
        let boundary = Int64(edge.control.canSkipUntil) &* TimeMath.nanoseconds
        var distance: Int64 = 0
        // Counts from the end and stops at the boundary: every delta request calls this, and the playlist may span a
        // day.
        for index in self.segments.indices.reversed() {
            if distance > boundary { return index + 1 }
            distance &+= self.segments[index].duration.nanoseconds
        }
        return 0
    }

    /// Date at which the listed media ends: nanoseconds since the Unix epoch; 0 if nothing is listed.
    package var endDate: Int64 {
        if let open = self.edge?.open {
            return open.parts.reduce(open.programDate) { $0 &+ $1.duration.nanoseconds }
        }
        return self.segments.last.map { $0.programDate &+ $0.duration.nanoseconds } ?? 0
    }

    /// The position of the playlist's end, which decides how blocking reloads are answered.
    package var position: PlaylistPosition {
        PlaylistPosition(
            nextMediaSequence: self.mediaSequence &+ Int64(self.segments.count),
            partCount: self.edge?.open?.parts.count ?? 0, lastPartCount: self.segments.last?.parts.count ?? 0,
            isEnded: self.isEnded)
    }

    /// Returns the text of the playlist; each line ends with a line feed.
    ///
    /// - Parameters:
    ///   - reports: Rendition reports about all other media playlists; ignored unless this is a low-latency playlist
    ///     that has not ended.
    ///   - skipping: Whether to render a delta update, if there are segments to skip.
    ///   - skippingDateRanges: Whether the delta update also omits older date ranges.
    package func rendered(
        reports: [RenditionReport] = [], skipping: Bool = false, skippingDateRanges: Bool = false
    ) -> String {
        let skipped = skipping ? self.skippableCount : 0
        var ranges = DateRangeWriter(self, skippingDateRanges: skipped > 0 && skippingDateRanges)
        var text = "#EXTM3U\n"
        // 9: EXT-X-SKIP. 10: EXT-X-SKIP that leaves out date ranges.
        text += "#EXT-X-VERSION:\(skipped > 0 ? (skippingDateRanges ? 10 : 9) : self.version)\n"
        text += "#EXT-X-TARGETDURATION:\(self.targetDuration)\n"
        if let edge = self.edge {
            text += self.isIFramesOnly || self.isSubtitles ? edge.control.controlTag : edge.control.tags
        }
        text += "#EXT-X-MEDIA-SEQUENCE:\(self.mediaSequence)\n"
        // The tag is present from the first publish on: without the tag the value is 0, so a later value would
        // contradict earlier playlists.
        text += "#EXT-X-DISCONTINUITY-SEQUENCE:\(self.discontinuitySequence)\n"
        if self.isEvent { text += "#EXT-X-PLAYLIST-TYPE:\(self.isVOD ? "VOD" : "EVENT")\n" }
        // The tag precedes any EXT-X-MAP, since the version that EXT-X-MAP needs depends on it.
        if self.isIFramesOnly { text += "#EXT-X-I-FRAMES-ONLY\n" }
        // The tag follows both sequence numbers, since some players refuse the other order.
        if skipped > 0 { text += "#EXT-X-SKIP:SKIPPED-SEGMENTS=\(skipped)\(ranges.removals)\n" }
        var state = TagState(hasMaps: self.hasMaps)
        // Map and key of the skipped segments still apply: the player merges the update into what it has.
        if skipped > 0 { state.follow(self.segments[skipped - 1]) }
        for (index, segment) in zip(skipped..., self.segments[skipped...]) {
            let head = state.tags(
                discontinuity: segment.discontinuity, map: segment.map, key: segment.key,
                programDate: segment.programDate)
            // The key is repeated, since some players do not carry over the key of skipped segments.
            if index == skipped, skipped > 0, let key = segment.key, !head.contains("#EXT-X-KEY") {
                text += TagState.keyTag(key)
            }
            text += ranges.tags(before: segment.mediaSequence)
            text += head
            if self.edge != nil { text += ranges.lines(of: segment.parts, in: segment.mediaSequence) }
            text += ranges.tags(before: segment.mediaSequence, part: .max)
            // The tag follows the parts, since a segment can become a gap when some of its parts are already listed.
            if segment.gap { text += "#EXT-X-GAP\n" }
            text += "#EXTINF:\(segment.listedDuration.decimal(5)),\n"
            if let range = segment.byteRange { text += "#EXT-X-BYTERANGE:\(range.count)@\(range.lowerBound)\n" }
            text += "\(segment.uri)\n"
        }
        if let edge = self.edge { text += self.tail(edge, &state, &ranges, reports) } else { text += ranges.rest() }
        if self.isEnded { text += "#EXT-X-ENDLIST\n" }
        return text
    }

    /// Returns the lines after the last complete segment.
    private func tail(
        _ edge: LiveEdge, _ state: inout TagState, _ ranges: inout DateRangeWriter, _ reports: [RenditionReport]
    ) -> String {
        var text = ""
        if let open = edge.open {
            let number = self.mediaSequence &+ Int64(self.segments.count)
            text += ranges.tags(before: number)
            text += state.tags(
                discontinuity: open.discontinuity, map: open.map, key: open.key, programDate: open.programDate)
            text += ranges.lines(of: open.parts, in: number)
        }
        text += ranges.rest()
        guard !self.isEnded else { return text }
        if let map = edge.hintMap, map != state.map {
            text += "#EXT-X-PRELOAD-HINT:TYPE=MAP,URI=\(AttributeText.quoted(map.uri))\n"
        }
        if let hint = edge.hint { text += "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\(AttributeText.quoted(hint))\n" }
        for report in reports { text += report.line }
        return text
    }
}

/// Tracks the values of tags that apply to all following segments until the tag is repeated.
private struct TagState {
    let hasMaps: Bool
    var map: InitializationSegment?
    private var key: SegmentKey?

    init(hasMaps: Bool) { self.hasMaps = hasMaps }

    /// Takes over the initialization segment and key of a segment whose tags are not written.
    mutating func follow(_ segment: Segment) { (self.map, self.key) = (segment.map, segment.key) }

    /// Returns the tags that precede a segment's first part.
    mutating func tags(
        discontinuity: Bool, map: InitializationSegment, key: SegmentKey?, programDate: Int64
    ) -> String {
        var text = discontinuity ? "#EXT-X-DISCONTINUITY\n" : ""
        if self.hasMaps, map != self.map {
            // §4.4.4.4: a key also applies to the maps after it.
            if self.key != nil { text += Self.keyTag(nil) }
            self.key = nil
            text += "#EXT-X-MAP:URI=\(AttributeText.quoted(map.uri))\n"
        }
        // EXT-X-KEY follows EXT-X-MAP, because a key applies to the maps that follow it and initialization segments are
        // not encrypted.
        if key != self.key { text += Self.keyTag(key) }
        (self.map, self.key) = (map, key)
        return text + "#EXT-X-PROGRAM-DATE-TIME:\(ProgramDate.format(programDate))\n"
    }

    static func keyTag(_ key: SegmentKey?) -> String {
        guard let key else { return "#EXT-X-KEY:METHOD=NONE\n" }
        var tag = "#EXT-X-KEY:METHOD=\(key.method.rawValue),URI=\(AttributeText.quoted(key.uri))"
        if let vector = key.initializationVector {
            tag += ",IV=0x\(Hexadecimal.text(vector))"
        }
        return tag + "\n"
    }
}
