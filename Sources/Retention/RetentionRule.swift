/// Which directories and objects of ended rooms are removed.
package struct RetentionRule: Sendable, Hashable {
    /// Live output is removed when it has not changed for this many seconds.
    package var after: Int64
    /// The same for recordings and clips; `nil`: they are kept.
    package var recordingsAfter: Int64?
    /// The current time in Unix seconds.
    package var now: Int64

    /// The shortest and the longest accepted duration, in seconds: a minute to ten years.
    package static let range: ClosedRange<Int64> = 60...315_360_000

    package init(after: Int64, recordingsAfter: Int64? = nil, now: Int64) {
        self.after = after
        self.recordingsAfter = recordingsAfter
        self.now = now
    }

    /// Reads a duration: a number with the unit `s`, `m`, `h` or `d`.
    ///
    /// - Returns: Seconds; `nil` for another form, or outside ``range``.
    package static func seconds(_ text: String) -> Int64? {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
        guard let unit = text.last.flatMap({ units[$0] }), (2...10).contains(text.utf8.count),
            text.dropLast().utf8.allSatisfy({ (0x30...0x39).contains($0) }), let count = Int64(text.dropLast()),
            self.range.contains(count * unit)
        else { return nil }
        return count * unit
    }

    /// Whether a file that was last changed at a time, in Unix seconds, has the age.
    func isOver(_ modified: Int64, after age: Int64) -> Bool {
        // A time in the future, by a clock that was wrong, is no proof of age. Nor is one before 1970.
        modified >= 0 && modified <= self.newest(after: age)
    }

    /// The latest time of a last change, in Unix seconds, that has the age.
    func newest(after age: Int64) -> Int64 {
        let (time, isTooLong) = self.now.subtractingReportingOverflow(age)
        return isTooLong ? .min : time
    }
}
