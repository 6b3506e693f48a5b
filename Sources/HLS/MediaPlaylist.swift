import MediaTypes

/// A media playlist, ready to be written: a pure function of its window.
///
/// Spec: rfc8216bis §4.4.3, §4.4.4.
package struct MediaPlaylist: Sendable {
    package let targetDuration: Int
    package let mediaSequence: Int64
    package let discontinuitySequence: Int64
    package let isEvent: Bool
    package let isEnded: Bool
    package let segments: [Segment]

    package init(_ window: PlaylistWindow) {
        self.targetDuration = window.targetDuration
        self.mediaSequence = window.mediaSequence
        self.discontinuitySequence = window.discontinuitySequence
        self.isEvent = window.style == .event
        self.isEnded = window.isEnded
        self.segments = window.segments
    }

    /// `EXT-X-VERSION`: what the tags in use need and no more, since players refuse what they do not know (§8).
    package var version: Int {
        // 3: EXTINF with decimals. 6: EXT-X-MAP in a list that is not I-frames only.
        self.segments.isEmpty ? 3 : 6
    }

    /// The text, each line ended by a line feed.
    package func rendered() -> String {
        var text = "#EXTM3U\n"
        text += "#EXT-X-VERSION:\(self.version)\n"
        text += "#EXT-X-TARGETDURATION:\(self.targetDuration)\n"
        text += "#EXT-X-MEDIA-SEQUENCE:\(self.mediaSequence)\n"
        // Always there, from the first publish on: it cannot appear later without being wrong before.
        text += "#EXT-X-DISCONTINUITY-SEQUENCE:\(self.discontinuitySequence)\n"
        if self.isEvent { text += "#EXT-X-PLAYLIST-TYPE:EVENT\n" }
        var map: InitializationSegment?
        var key: SegmentKey?
        for segment in self.segments {
            if segment.discontinuity { text += "#EXT-X-DISCONTINUITY\n" }
            if segment.map != map {
                text += "#EXT-X-MAP:URI=\(AttributeText.quoted(segment.map.uri))\n"
                map = segment.map
            }
            // Behind MAP, because a key applies to the maps that follow it and initialization segments stay clear.
            if segment.key != key {
                text += Self.keyTag(segment.key)
                key = segment.key
            }
            text += "#EXT-X-PROGRAM-DATE-TIME:\(ProgramDate.format(segment.programDate))\n"
            if segment.gap { text += "#EXT-X-GAP\n" }
            text += "#EXTINF:\(AttributeText.decimal(segment.listedDuration, digits: 5)),\n"
            text += "\(segment.uri)\n"
        }
        if self.isEnded { text += "#EXT-X-ENDLIST\n" }
        return text
    }

    private static func keyTag(_ key: SegmentKey?) -> String {
        guard let key else { return "#EXT-X-KEY:METHOD=NONE\n" }
        var tag = "#EXT-X-KEY:METHOD=\(key.method.rawValue),URI=\(AttributeText.quoted(key.uri))"
        if let vector = key.initializationVector {
            tag += ",IV=0x" + vector.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
        return tag + "\n"
    }
}
