import HLS
import MediaTypes

extension Publication {
    /// Lists date range changes in every playlist, before the next segment.
    mutating func list(_ changes: [DateRange.Change]) {
        for change in changes {
            let (number, date) = (self.nextMediaSequence, self.endDate)
            self.dateRanges.list(change, mediaSequence: number, at: date)
            self.archive?.ranges.list(change, mediaSequence: number, at: date)
        }
    }

    /// Removes the date ranges that end before the earliest listed segment of all playlists.
    mutating func dropPassedRanges() {
        let starts = self.tracks.compactMap { $0.window.segments.first?.programDate }
        guard let start = starts.min() else { return }
        let memory = Int64(self.grid.targetDuration) * 6_000_000_000
        let passed = self.dateRanges.passed(before: start)
        if self.archive != nil, !passed.isEmpty {
            let gone = Set(passed)
            for (range, number) in zip(self.dateRanges.ranges, self.dateRanges.openings) where gone.contains(range.id) {
                self.archive?.note(StateFile.Range(range: range, mediaSequence: number))
            }
        }
        self.dateRanges.remove(passed, at: self.endDate, memory: memory)
        guard let archive = self.archive else { return }
        let first = self.wholeWindow.compactMap(\.start).min() ?? start
        let date = self.endDate
        self.archive?.ranges.remove(archive.ranges.passed(before: min(first, start)), at: date, memory: memory)
    }

    /// Date at which the last published segment ends, in nanoseconds since the Unix epoch.
    private var endDate: Int64 {
        self.origin
            &+ TimeMath.scale(self.nextFrame, by: TimeMath.nanoseconds, over: Int64(max(1, self.grid.fps)))
    }

    /// Takes over the date ranges that the previous worker has listed. Its open ranges end with its last segment, or
    /// where this run begins if they start later, because this worker opens ranges of its own for what it shows. Ranges
    /// of the class ``ProgramMark/lastingClass`` stay open.
    mutating func resumeRanges(_ rows: [StateFile.Range], firstTick: Int64) {
        for row in rows {
            self.dateRanges.list(.opened(row.range), mediaSequence: row.mediaSequence, at: 0)
        }
        let fps = Int64(max(1, self.grid.fps))
        let begins = self.origin &+ TimeMath.scale(firstTick, by: TimeMath.nanoseconds, over: fps)
        self.list(
            rows.filter { $0.range.end == nil && !$0.range.rangeClass.hasPrefix(ProgramMark.lastingClass) }.map { row in
                .closed(id: row.range.id, end: row.range.start < self.endDate ? self.endDate : begins)
            })
    }

    /// The date ranges that the state file stores: the newest ones, up to its limit. They are written with every
    /// segment and every change.
    var rangeRows: [StateFile.Range] {
        zip(self.dateRanges.ranges, self.dateRanges.openings).suffix(StateFile.mostRanges).map {
            StateFile.Range(range: $0, mediaSequence: $1)
        }
    }
}
