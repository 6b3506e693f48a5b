import MediaTypes

/// Inserts the tags of date ranges between the other lines of a playlist, each at its position.
struct DateRangeWriter {
    private var remaining: ArraySlice<DateRangeList.Tag>
    /// The attribute `,RECENTLY-REMOVED-DATERANGES=…` of a delta update that omits older date ranges; otherwise empty.
    let removals: String

    /// Prepares the tags of a playlist.
    ///
    /// - Parameter skippingDateRanges: Whether to omit tags that are older than the skip boundary. Spec: rfc8216bis
    ///   §6.2.5.1: a client that requests a delta update has seen the playlist within half the skip boundary, so it
    ///   knows every older tag.
    init(_ playlist: MediaPlaylist, skippingDateRanges: Bool) {
        // §4.4.5.1: a date range needs an EXT-X-PROGRAM-DATE-TIME to refer to.
        let hasDates = !playlist.segments.isEmpty || playlist.edge?.open != nil
        let tags = hasDates ? playlist.dateRanges.tags : []
        guard skippingDateRanges, let edge = playlist.edge else {
            self.remaining = tags[...]
            self.removals = ""
            return
        }
        let since = playlist.endDate &- Int64(edge.control.canSkipUntil) &* TimeMath.nanoseconds
        self.remaining = tags.filter { $0.listedAt >= since }[...]
        let removed = playlist.dateRanges.removed(since: since).joined(separator: "\t")
        // The list may be empty, which no other quoted-string may be (§4.4.5.2).
        self.removals = ",RECENTLY-REMOVED-DATERANGES=\"\(removed)\""
    }

    /// Returns the remaining tags up to and including the position before a part of a segment.
    mutating func tags(before mediaSequence: Int64, part: Int = 0) -> String {
        var text = ""
        while let tag = self.remaining.first, (tag.mediaSequence, tag.part) <= (mediaSequence, part) {
            text += tag.line
            self.remaining.removeFirst()
        }
        return text
    }

    /// Returns the lines of a segment's parts, with the date range tags between them.
    mutating func lines(of parts: [Part], in mediaSequence: Int64) -> String {
        var text = ""
        for (index, part) in parts.enumerated() { text += self.tags(before: mediaSequence, part: index) + part.line }
        return text
    }

    /// Returns all remaining tags.
    mutating func rest() -> String {
        defer { self.remaining = [] }
        return self.remaining.map(\.line).joined()
    }
}
