/// The ages at which a retention run removes files of ended rooms, and the current time.
package struct RetentionRule: Sendable, Hashable {
    /// Live output of an ended room is removed when none of its files has changed for this many seconds.
    package var after: Int64
    /// Recordings and clips are removed when they have not changed for this many seconds; `nil` keeps them.
    package var recordingsAfter: Int64?
    /// The current time in Unix seconds.
    package var now: Int64

    /// The accepted ages in seconds: one minute to ten years.
    package static let range: ClosedRange<Int64> = 60...315_360_000

    package init(after: Int64, recordingsAfter: Int64? = nil, now: Int64) {
        self.after = after
        self.recordingsAfter = recordingsAfter
        self.now = now
    }

    /// Parses a duration: a number with the unit `s`, `m`, `h` or `d`.
    ///
    /// - Returns: The duration in seconds; `nil` if `text` has another form or the duration is outside ``range``.
    package static func seconds(_ text: String) -> Int64? {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
        guard let unit = text.last.flatMap({ units[$0] }), (2...10).contains(text.utf8.count),
            text.dropLast().utf8.allSatisfy({ (0x30...0x39).contains($0) }), let count = Int64(text.dropLast()),
            self.range.contains(count * unit)
        else { return nil }
        return count * unit
    }

    /// Whether a file that was last changed at `modified`, in Unix seconds, is at least `age` seconds old; false for a
    /// time in the future or before 1970.
    func isOver(_ modified: Int64, after age: Int64) -> Bool {
        // A time in the future or before 1970 comes from a wrong clock, and does not prove that the file is old.
        modified >= 0 && modified <= self.newest(after: age)
    }

    /// The latest time, in Unix seconds, at which a file that is at least `age` seconds old can have been changed.
    func newest(after age: Int64) -> Int64 {
        let (time, isTooLong) = self.now.subtractingReportingOverflow(age)
        return isTooLong ? .min : time
    }
}
