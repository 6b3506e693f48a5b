/// The end of another media playlist of the presentation, so that a player can switch to it without loading it first.
///
/// Spec: rfc8216bis §4.4.5.4 (`EXT-X-RENDITION-REPORT`).
package struct RenditionReport: Sendable, Hashable {
    /// Relative to the playlist that contains the report.
    package let uri: String
    /// Media sequence number of the newest segment with a part.
    package let lastMediaSequence: Int64
    /// Index of that segment's newest part; `nil` if it lists none.
    package let lastPart: Int?

    package init(uri: String, lastMediaSequence: Int64, lastPart: Int?) {
        self.uri = uri
        self.lastMediaSequence = lastMediaSequence
        self.lastPart = lastPart
    }

    /// The tag, ended by a line feed.
    var line: String {
        var text = "#EXT-X-RENDITION-REPORT:URI=\(AttributeText.quoted(self.uri)),LAST-MSN=\(self.lastMediaSequence)"
        if let part = self.lastPart { text += ",LAST-PART=\(part)" }
        return text + "\n"
    }
}
