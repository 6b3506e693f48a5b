/// A text that players show over the video for some time. Spec: W3C WebVTT §4.
package struct SubtitleCue: Sendable, Hashable {
    /// Program time in milliseconds at which the text appears: time since the room's origin.
    package var start: Int64
    /// Program time in milliseconds at which the text disappears; more than ``start``.
    package var end: Int64
    /// The cue payload; see ``SubtitleText``.
    package let text: String

    package init(start: Int64, end: Int64, text: String) {
        self.start = start
        self.end = end
        self.text = text
    }
}

/// Writes the WebVTT segments of a subtitle rendition.
///
/// Cue times are program times, which are also the times of the media. `X-TIMESTAMP-MAP` says so with the start of each
/// segment, because its MPEG-2 time has only 33 bits and starts again at 0 after 26.5 hours.
///
/// Spec: rfc8216bis §3.1.4 (WebVTT segments), W3C WebVTT §4.1.
package enum SubtitleSegment {
    /// MIME type of WebVTT.
    package static let contentType = "text/vtt"

    /// Returns the bytes of a segment.
    ///
    /// - Parameters:
    ///   - start: Program time of the segment's start in milliseconds, 0 or more.
    ///   - cues: The cues that are shown at some time of the segment, in the order of their starts. A cue that began
    ///     earlier is repeated with the same times.
    package static func bytes(start: Int64, cues: some Sequence<SubtitleCue>) -> [UInt8] {
        // The lower 33 bits.
        let ticks = (start &* 90) & 0x1_FFFF_FFFF
        // FFmpeg's demuxer joins segments, so each ends with an empty line.
        var text = "WEBVTT\nX-TIMESTAMP-MAP=LOCAL:\(Self.time(start)),MPEGTS:\(ticks)\n\n"
        for cue in cues { text += "\(Self.time(cue.start)) --> \(Self.time(cue.end))\n\(cue.text)\n\n" }
        return Array(text.utf8)
    }

    /// Formats a time of 0 ms or more as `HH:MM:SS.mmm`; the hours may have more digits.
    private static func time(_ milliseconds: Int64) -> String {
        let time = max(0, milliseconds)
        func digits(_ number: Int64, _ count: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
        }
        return "\(digits(time / 3_600_000, 2)):\(digits(time / 60_000 % 60, 2)):\(digits(time / 1_000 % 60, 2))."
            + digits(time % 1_000, 3)
    }
}
