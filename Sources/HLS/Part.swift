import MediaTypes

/// A part of a segment, which can be published before the segment is complete.
///
/// Spec: rfc8216bis §4.4.4.9 (`EXT-X-PART`).
package struct Part: Sendable, Hashable {
    package let uri: String
    /// Start in ticks of the track's timescale since the room's origin.
    package let start: Int64
    package let duration: MediaDuration
    /// Whether the part contains an IDR frame (`INDEPENDENT=YES`); always true for audio.
    package let independent: Bool
    package let gap: Bool
    /// Size in bytes before encryption.
    package let byteCount: Int

    package init(
        uri: String, start: Int64, duration: MediaDuration, independent: Bool, gap: Bool = false, byteCount: Int
    ) {
        self.uri = uri
        self.start = start
        self.duration = duration
        self.independent = independent
        self.gap = gap
        self.byteCount = byteCount
    }

    /// The `DURATION` attribute in units of 10 µs: the rounded end minus the rounded start, as in
    /// ``Segment/listedDuration``.
    package var listedDuration: Int64 {
        let timescale = Int64(self.duration.timescale)
        let end = TimeMath.rescale(self.start &+ self.duration.ticks, from: timescale, to: 100_000)
        return end - TimeMath.rescale(self.start, from: timescale, to: 100_000)
    }

    /// The `EXT-X-PART` tag, with a line feed.
    var line: String {
        "#EXT-X-PART:DURATION=\(self.listedDuration.decimal(5))"
            + ",URI=\(AttributeText.quoted(self.uri))" + (self.independent ? ",INDEPENDENT=YES" : "")
            + (self.gap ? ",GAP=YES" : "") + "\n"
    }
}
