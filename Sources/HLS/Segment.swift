import MediaTypes

/// A media segment as the playlists list it.
///
/// Spec: rfc8216bis §3, §4.4.4.
package struct Segment: Sendable, Hashable {
    /// Media sequence number. Numbers never decrease, and a number never refers to another segment.
    package let mediaSequence: Int64
    package let uri: String
    /// Start in ticks of ``duration``'s timescale since the room's origin. `EXTINF` is computed from the start, so that
    /// the rounding errors of durations never add up to a drift.
    package let start: Int64
    package let duration: MediaDuration
    /// Wall-clock time of the first sample: nanoseconds since the Unix epoch.
    package let programDate: Int64
    /// The initialization segment that this segment needs.
    package let map: InitializationSegment
    /// Whether the segment follows a break in time or coding (`EXT-X-DISCONTINUITY`).
    package let discontinuity: Bool
    package let key: SegmentKey?
    /// Whether the segment is listed but not available, so that players skip it (`EXT-X-GAP`).
    package let gap: Bool
    package let parts: [Part]
    /// Size in bytes before encryption. A gap may still have the size of the media that was lost.
    package let byteCount: Int
    /// Whether the segment starts with an IDR frame; always true for audio.
    package let independent: Bool
    /// Media time at which the segment was first listed: nanoseconds since the room's origin.
    package let publishedAt: Int64
    /// Key frames of the segment that the I-frame playlist lists, in order; empty without an I-frame playlist.
    package let keyFrames: [KeyFrame]
    /// Byte range of the segment within the resource; `nil` if the segment is the whole resource. Spec: §4.4.4.2
    /// (`EXT-X-BYTERANGE`).
    package let byteRange: Range<Int>?

    /// Makes a segment.
    ///
    /// - Parameter publishedAt: See ``publishedAt``; `nil` means the end of the segment, which is when a worker that
    ///   keeps up publishes it.
    package init(
        mediaSequence: Int64, uri: String, start: Int64, duration: MediaDuration, programDate: Int64,
        map: InitializationSegment, discontinuity: Bool = false, key: SegmentKey? = nil, gap: Bool = false,
        parts: [Part] = [], byteCount: Int, independent: Bool = true, publishedAt: Int64? = nil,
        keyFrames: [KeyFrame] = [], byteRange: Range<Int>? = nil
    ) {
        self.mediaSequence = mediaSequence
        self.uri = uri
        self.start = start
        self.duration = duration
        self.programDate = programDate
        self.map = map
        self.discontinuity = discontinuity
        self.key = key
        self.gap = gap
        self.parts = parts
        self.byteCount = byteCount
        self.independent = independent
        self.keyFrames = keyFrames
        self.byteRange = byteRange
        self.publishedAt =
            publishedAt
            ?? TimeMath.rescale(
                start &+ duration.ticks, from: Int64(duration.timescale), to: TimeMath.nanoseconds)
    }

    /// The same segment without its parts.
    package var withoutParts: Segment { self.with(parts: []) }

    /// Returns the same segment with other parts.
    package func with(parts: [Part]) -> Segment {
        Segment(
            mediaSequence: self.mediaSequence, uri: self.uri, start: self.start, duration: self.duration,
            programDate: self.programDate, map: self.map, discontinuity: self.discontinuity, key: self.key,
            gap: self.gap, parts: parts, byteCount: self.byteCount, independent: self.independent,
            publishedAt: self.publishedAt, keyFrames: self.keyFrames, byteRange: self.byteRange)
    }

    /// The same segment as a gap, because its bytes are lost; number and name stay the same.
    package var lost: Segment {
        Segment(
            mediaSequence: self.mediaSequence, uri: self.uri, start: self.start, duration: self.duration,
            programDate: self.programDate, map: self.map, discontinuity: self.discontinuity, key: self.key, gap: true,
            byteCount: self.byteCount, independent: self.independent, publishedAt: self.publishedAt,
            keyFrames: self.keyFrames.map(\.absent), byteRange: self.byteRange)
    }

    /// The `EXTINF` duration in units of 10 µs: the rounded end minus the rounded start, so that the sum over any run
    /// of segments is within one unit of the exact duration.
    package var listedDuration: Int64 {
        let timescale = Int64(self.duration.timescale)
        let end = TimeMath.rescale(self.start &+ self.duration.ticks, from: timescale, to: 100_000)
        return end - TimeMath.rescale(self.start, from: timescale, to: 100_000)
    }
}
