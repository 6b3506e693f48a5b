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
    /// The segment that each of ``ranges`` was opened before.
    package private(set) var openings: [Int64] = []
    package private(set) var tags: [Tag] = []
    private var removals: [Removal] = []
    /// Where in ``ranges`` an ID is: an event playlist has thousands of them, and each change asks.
    private var places: [String: Int] = [:]

    package init() {}

    package var isEmpty: Bool { self.ranges.isEmpty }

    /// Writes down what has happened to a range. Amortized O(1).
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
            guard self.places[range.id] == nil else { return }
            self.places[range.id] = self.ranges.count
            self.ranges.append(range)
            self.openings.append(mediaSequence)
            self.tags.append(tag(range.id, range.openingTag))
            if let line = range.closingTag { self.tags.append(tag(range.id, line)) }
        case .closed(let id, let end):
            guard let index = self.places[id], self.ranges[index].end == nil else { return }
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
    /// - Complexity: O(*n*) in the number of ranges, whatever the number of those that go.
    package mutating func remove(_ ids: [String], at date: Int64, memory: Int64) {
        guard !ids.isEmpty else { return }
        let gone = Set(ids)
        let kept = self.ranges.indices.filter { !gone.contains(self.ranges[$0].id) }
        self.openings = kept.map { self.openings[$0] }
        self.ranges = kept.map { self.ranges[$0] }
        self.places = [:]
        for (place, range) in self.ranges.enumerated() { self.places[range.id] = place }
        self.tags.removeAll { gone.contains($0.id) }
        self.removals.removeAll { $0.at &+ memory < date }
        self.removals += ids.map { Removal(id: $0, at: date) }
    }

    /// IDs that were taken out after `date`.
    func removed(since date: Int64) -> [String] { self.removals.filter { $0.at >= date }.map(\.id) }
}
