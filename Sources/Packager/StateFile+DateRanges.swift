import HLS
import MediaTypes

extension StateFile {
    /// A listed date range, as the state file stores it.
    struct Range: Sendable, Hashable {
        var range: DateRange
        /// Media sequence number of the segment before which the range's tag is placed.
        var mediaSequence: Int64
    }

    /// Maximum number of date ranges in a state file: an event playlist has one for every scene of the room.
    static let mostRanges = 100_000

    // Date ranges are short rows, as segments are: [id, class, start, end or null, planned duration or null, media
    // sequence, [name, value, …]].
    static func json(_ ranges: [Range]) -> String {
        "\n\"dateRanges\": ["
            + ranges.map { "\n\($0.json)" }.joined(separator: ",") + "],\n"
    }

    /// Reads the date ranges of a state file.
    ///
    /// - Returns: `nil` if the member is damaged; an empty list if it is missing.
    static func ranges(_ value: JSONNode?) -> [Range]? {
        guard let value else { return [] }
        guard let rows = value.array, rows.count <= self.mostRanges else { return nil }
        let ranges = rows.compactMap { $0.array.flatMap(Range.init(row:)) }
        return ranges.count == rows.count ? ranges : nil
    }

    /// Quotes a string for JSON. The texts of a date range never contain control characters or double quotes, so only
    /// backslashes are escaped.
    fileprivate static func quoted(_ text: String) -> String {
        "\"" + text.split(separator: "\\", omittingEmptySubsequences: false).joined(separator: "\\\\") + "\""
    }
}

extension StateFile.Range {
    /// The row of a date range.
    var json: String {
        let range = self.range
        let texts = range.attributes.flatMap { [String($0.name.dropFirst(2)), $0.value] }.map(StateFile.quoted)
        return "[\(StateFile.quoted(range.id)),\(StateFile.quoted(range.rangeClass)),\(range.start),"
            + "\(range.end.map(String.init) ?? "null"),\(range.plannedDuration.map(String.init) ?? "null"),"
            + "\(self.mediaSequence),[\(texts.joined(separator: ","))]]"
    }

    /// Reads the row of a date range; `nil` if it is damaged.
    init?(row: [JSONNode]) {
        guard row.count == 7, let id = row[0].string, let rangeClass = row[1].string, let start = row[2].integer,
            row[3].isIntegerOrNull, row[4].isIntegerOrNull,
            let mediaSequence = row[5].integer, (0...StateFile.largestNumber).contains(mediaSequence),
            let texts = row[6].array?.compactMap(\.string), texts.count.isMultiple(of: 2),
            texts.count == row[6].array?.count
        else { return nil }
        let attributes = stride(from: 0, to: texts.count, by: 2).map { DateRange.Attribute(texts[$0], texts[$0 + 1]) }
        self.init(
            range: DateRange(
                id: id, rangeClass: rangeClass, start: start, end: row[3].integer, plannedDuration: row[4].integer,
                attributes: attributes), mediaSequence: mediaSequence)
    }
}

extension JSONNode {
    var isIntegerOrNull: Bool { self.integer != nil || self.content == .null }
}
