/// The end of a low-latency media playlist: everything after the last complete segment, and the `EXT-X-SERVER-CONTROL`
/// values.
package struct LiveEdge: Sendable, Hashable {
    /// The segment in progress, of which only the first parts are published.
    package struct OpenSegment: Sendable, Hashable {
        /// Wall-clock time of the segment's first sample: nanoseconds since the Unix epoch.
        package let programDate: Int64
        package let map: InitializationSegment
        package let discontinuity: Bool
        package let key: SegmentKey?
        /// The published parts in order; empty if only the segment's `EXT-X-MAP` or discontinuity is known.
        package let parts: [Part]

        package init(
            programDate: Int64, map: InitializationSegment, discontinuity: Bool, key: SegmentKey? = nil, parts: [Part]
        ) {
            self.programDate = programDate
            self.map = map
            self.discontinuity = discontinuity
            self.key = key
            self.parts = parts
        }
    }

    package let control: ServerControl
    /// The segment in progress; `nil` in playlists of I-frames and of subtitles, and right after a complete segment,
    /// unless the next segment begins with another initialization segment, another key or a discontinuity.
    package let open: OpenSegment?
    /// URI of the next part (`EXT-X-PRELOAD-HINT`); `nil` once the playlist has ended, and in playlists of I-frames
    /// and of subtitles. Spec: rfc8216bis §4.4.5.3.
    package let hint: String?
    /// The initialization segment of the hinted part.
    package let hintMap: InitializationSegment?

    package init(
        control: ServerControl, open: OpenSegment?, hint: String?, hintMap: InitializationSegment? = nil
    ) {
        self.control = control
        self.open = open
        self.hint = hint
        self.hintMap = hintMap
    }
}
