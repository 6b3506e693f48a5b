/// The date ranges of one media playlist, with the position of each tag in the playlist.
///
/// Invariants:
/// (1) A tag stays where it was first written: a playlist only grows at its end (rfc8216bis §6.2.1).
/// (2) A range is removed with all its tags. Callers remove it only once it is closed and ends before the first listed
///     segment (§6.2.1), see ``passed(before:)``.
/// (3) Callers never use an ID again for another range. A second range with the ID of a listed one is ignored.
package struct DateRangeList: Sendable, Hashable {
    /// An `EXT-X-DATERANGE` line and its position in the playlist: before part `part` of segment `mediaSequence`; if
    /// `part` is 0, also before the segment's own tags.
    package struct Tag: Sendable, Hashable {
        package let id: String
        /// The text of the tag, with a line feed.
        let line: String
        package let mediaSequence: Int64
        package let part: Int
        /// Date of the playlist's end when the tag was added: nanoseconds since the Unix epoch.
        let listedAt: Int64
    }

    private struct Removal: Sendable, Hashable {
        let id: String
        let at: Int64
    }

    /// The date ranges in the order in which they were opened.
    package private(set) var ranges: [DateRange] = []
    /// For each of ``ranges``, the media sequence number of the segment before which it was opened.
    package private(set) var openings: [Int64] = []
    /// All tags in the order of the playlist.
    package private(set) var tags: [Tag] = []
    private var removals: [Removal] = []
    /// Index into ``ranges`` by ID. An event playlist can have thousands of ranges, and every change looks up a range.
    private var places: [String: Int] = [:]

    package init() {}

    package var isEmpty: Bool { self.ranges.isEmpty }

    /// Adds the tags for a change of a date range. Amortized O(1).
    ///
    /// - Parameters:
    ///   - mediaSequence: Media sequence number of the segment in progress, or of the next one if none is in progress.
    ///   - part: Index of the next part in that segment.
    ///   - date: Date of the playlist's end: nanoseconds since the Unix epoch.
    package mutating func list(_ change: DateRange.Change, mediaSequence: Int64, part: Int = 0, at date: Int64) {
        func tag(_ id: String, _ line: String) -> Tag {
            Tag(id: id, line: line, mediaSequence: mediaSequence, part: part, listedAt: date)
        }
        switch change {
        case .opened(let range):
            // Invariant (3).
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

    /// Returns the IDs of the ranges that may be removed from a playlist whose first segment begins at `date`: those
    /// that ended at or before it.
    package func passed(before date: Int64) -> [String] {
        self.ranges.filter { range in range.end.map { $0 <= date } ?? false }.map(\.id)
    }

    /// Removes date ranges with all their tags.
    ///
    /// - Parameters:
    ///   - date: Date of the playlist's end.
    ///   - memory: Nanoseconds for which delta updates report the removal to players.
    /// - Complexity: O(*n*) in the number of ranges, however many are removed.
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

    /// Returns the IDs of the ranges that were removed when the playlist ended at `date` or later.
    func removed(since date: Int64) -> [String] { self.removals.filter { $0.at >= date }.map(\.id) }
}
