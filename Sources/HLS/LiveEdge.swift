/// The end of a low-latency media playlist: everything after the last complete segment, and the server control it
/// declares.
package struct LiveEdge: Sendable, Hashable {
    /// The segment in progress: its first parts are published.
    package struct OpenSegment: Sendable, Hashable {
        /// Wall-clock time of its first sample: nanoseconds since the Unix epoch.
        package let programDate: Int64
        package let map: InitializationSegment
        package let discontinuity: Bool
        package let key: SegmentKey?
        /// In order; empty if only its map or its discontinuity is known.
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
    /// `nil` right after a complete segment, unless the next one begins with another map or a discontinuity.
    package let open: OpenSegment?
    /// URI of the next part. Spec: rfc8216bis §4.4.5.3 (`EXT-X-PRELOAD-HINT`). `nil` once the playlist has ended.
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
