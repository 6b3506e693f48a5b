import MediaTypes

extension StateFile {
    /// The part of the state file about segments that only the playlists of the whole window list. Older programs do
    /// not know it: they continue with the live playlists, which have these segments no longer.
    struct Archive: Sendable, Hashable {
        /// Name of the journal with the older rows; `nil` before the first row was written.
        var journal: String?
        /// Media sequence number of the first segment that the playlists of the whole window list.
        var head: Int64
        /// Media sequence number of the first segment whose file is not deleted.
        var kept: Int64
        /// Duration in nanoseconds of the longest playlist of the whole window so far.
        var longest: Int64
        /// Rows that the journal does not have yet, oldest first.
        var rows: [ArchiveRow] = []

        /// The member's text in the state file.
        var json: String {
            "\"archive\": {" + (self.journal.map { "\"journal\": \"\($0)\", " } ?? "")
                + "\"head\": \(self.head), \"kept\": \(self.kept), \"longest\": \(self.longest), \"rows\": ["
                + self.rows.map { "\n\($0.json)" }.joined(separator: ",") + "]},\n"
        }

        /// Reads the member.
        ///
        /// - Returns: `nil` if it is damaged; `.some(nil)` if it is missing.
        static func read(_ value: JSONNode?) -> Archive?? {
            guard let value else { return .some(nil) }
            guard let head = value[key: "head"]?.integer, let kept = value[key: "kept"]?.integer,
                (0...StateFile.largestNumber).contains(head), (0...head).contains(kept),
                let longest = value[key: "longest"]?.integer,
                (0...StateFile.largestNumber * 1_000).contains(longest),
                let rows = value[key: "rows"]?.array,
                value[key: "journal"] == nil || value[key: "journal"]?.string.map(ArchiveJournal.isName) == true
            else { return nil }
            let read = rows.compactMap { ArchiveRow(json: $0) }
            guard read.count == rows.count else { return nil }
            return Archive(
                journal: value[key: "journal"]?.string, head: head, kept: kept, longest: longest, rows: read)
        }
    }
}

/// Names of the archive's journals. Each worker writes a journal of its own, so that a worker that was stopped and
/// resumes cannot add lines to the journal of its successor.
enum ArchiveJournal {
    private static let start = "window-"
    private static let end = ".journal"

    static func name(incarnation: Int64) -> String { "\(self.start)\(incarnation)\(self.end)" }

    /// Whether a name is that of a journal.
    static func isName(_ name: String) -> Bool {
        guard name.hasPrefix(self.start), name.hasSuffix(self.end) else { return false }
        let digits = name.dropFirst(self.start.count).dropLast(self.end.count)
        return (1...19).contains(digits.count) && digits.isDigits
    }
}
