/// The end of another media playlist of the presentation, so that a player can switch to that playlist without loading
/// it first.
///
/// Spec: rfc8216bis §4.4.5.4 (`EXT-X-RENDITION-REPORT`).
package struct RenditionReport: Sendable, Hashable {
    /// URI of the other playlist, relative to the playlist that contains the report.
    package let uri: String
    /// Media sequence number of the newest segment, complete or in progress.
    package let lastMediaSequence: Int64
    /// Index of that segment's newest part; `nil` if it lists none.
    package let lastPart: Int?

    package init(uri: String, lastMediaSequence: Int64, lastPart: Int?) {
        self.uri = uri
        self.lastMediaSequence = lastMediaSequence
        self.lastPart = lastPart
    }

    /// The `EXT-X-RENDITION-REPORT` tag, with a line feed.
    var line: String {
        var text = "#EXT-X-RENDITION-REPORT:URI=\(AttributeText.quoted(self.uri)),LAST-MSN=\(self.lastMediaSequence)"
        if let part = self.lastPart { text += ",LAST-PART=\(part)" }
        return text + "\n"
    }
}
