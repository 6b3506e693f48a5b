import HLS
import MediaTypes

extension Publication {
    /// Lists date range changes in every playlist, before the next segment.
    mutating func list(_ changes: [DateRange.Change]) {
        for change in changes {
            self.dateRanges.list(change, mediaSequence: self.nextMediaSequence, at: self.endDate)
        }
    }

    /// Removes the date ranges that end before the earliest listed segment of all playlists.
    mutating func dropPassedRanges() {
        let starts = self.tracks.compactMap { $0.window.segments.first?.programDate }
        guard let start = starts.min() else { return }
        self.dateRanges.remove(
            self.dateRanges.passed(before: start), at: self.endDate,
            memory: Int64(self.grid.targetDuration) * 6_000_000_000)
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
