import MediaTypes

/// Puts the tags of a playlist's date ranges between its other lines, each at its position.
struct DateRangeWriter {
    private var remaining: ArraySlice<DateRangeList.Tag>
    /// `,RECENTLY-REMOVED-DATERANGES` of a delta update that leaves out older ranges; otherwise empty.
    let removals: String

    /// Spec: rfc8216bis §6.2.5.1: a client that requests a delta update has seen the playlist within half the skip
    /// boundary, so it knows every tag that is older than the boundary.
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

    /// Tags up to and including that position.
    mutating func tags(before mediaSequence: Int64, part: Int = 0) -> String {
        var text = ""
        while let tag = self.remaining.first, (tag.mediaSequence, tag.part) <= (mediaSequence, part) {
            text += tag.line
            self.remaining.removeFirst()
        }
        return text
    }

    /// The lines of a segment's parts, with the date range tags between them.
    mutating func lines(of parts: [Part], in mediaSequence: Int64) -> String {
        var text = ""
        for (index, part) in parts.enumerated() { text += self.tags(before: mediaSequence, part: index) + part.line }
        return text
    }

    /// All remaining tags.
    mutating func rest() -> String {
        defer { self.remaining = [] }
        return self.remaining.map(\.line).joined()
    }
}
