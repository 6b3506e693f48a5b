/// The date ranges of one media playlist, and the place of each of their tags in it.
///
/// Invariants:
/// (1) A tag stays where it was first written: lists only grow at their end (rfc8216bis §6.2.1).
/// (2) A range leaves when it is closed and ends before the first listed segment, not earlier (§6.2.1); with all its tags.
/// (3) An ID that has been there never stands for another range.
package struct DateRangeList: Sendable, Hashable {
    /// A line and its place: before part `part` of segment `mediaSequence`, and before the segment's own tags when that is 0.
    package struct Tag: Sendable, Hashable {
        package let id: String
        /// Ended by a line feed.
        let line: String
        package let mediaSequence: Int64
        package let part: Int
        /// Date of the playlist's end when the tag came: nanoseconds since the Unix epoch.
        let listedAt: Int64
    }

    private struct Removal: Sendable, Hashable {
        let id: String
        let at: Int64
    }

    /// In the order they were opened.
    package private(set) var ranges: [DateRange] = []
    package private(set) var tags: [Tag] = []
    private var removals: [Removal] = []

    package init() {}

    package var isEmpty: Bool { self.ranges.isEmpty }

    /// Writes down what has happened to a range.
    ///
    /// - Parameters:
    ///   - mediaSequence: Number of the segment that comes next, or of which a part comes next.
    ///   - part: Index of that part.
    ///   - date: Of the playlist's end: nanoseconds since the Unix epoch.
    package mutating func list(_ change: DateRange.Change, mediaSequence: Int64, part: Int = 0, at date: Int64) {
        func tag(_ id: String, _ line: String) -> Tag {
            Tag(id: id, line: line, mediaSequence: mediaSequence, part: part, listedAt: date)
        }
        switch change {
        case .opened(let range):
            // Keeps (3).
            guard !self.ranges.contains(where: { $0.id == range.id }) else { return }
            self.ranges.append(range)
            self.tags.append(tag(range.id, range.openingTag))
            if let line = range.closingTag { self.tags.append(tag(range.id, line)) }
        case .closed(let id, let end):
            guard let index = self.ranges.firstIndex(where: { $0.id == id && $0.end == nil }) else { return }
            self.ranges[index] = self.ranges[index].closed(at: end)
            if let line = self.ranges[index].closingTag { self.tags.append(tag(id, line)) }
        }
    }

    /// IDs of ranges that may leave a playlist whose first segment begins at `date`; see (2).
    package func passed(before date: Int64) -> [String] {
        self.ranges.filter { range in range.end.map { $0 <= date } ?? false }.map(\.id)
    }

    /// Takes ranges out.
    ///
    /// - Parameters:
    ///   - date: Of the playlist's end.
    ///   - memory: Nanoseconds for which delta updates tell of it.
    package mutating func remove(_ ids: [String], at date: Int64, memory: Int64) {
        guard !ids.isEmpty else { return }
        self.ranges.removeAll { ids.contains($0.id) }
        self.tags.removeAll { ids.contains($0.id) }
        self.removals.removeAll { $0.at &+ memory < date }
        self.removals += ids.map { Removal(id: $0, at: date) }
    }

    /// IDs that were taken out after `date`.
    func removed(since date: Int64) -> [String] { self.removals.filter { $0.at >= date }.map(\.id) }
}
