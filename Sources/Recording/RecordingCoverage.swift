import HLS
import MediaTypes

/// Which part of a room's listed media its recording contains.
package struct RecordingCoverage: Sendable, Hashable {
    /// A run of consecutive recorded segments.
    package struct Run: Sendable, Hashable {
        /// Date of the first frame of the run: nanoseconds since the Unix epoch.
        package var start: Int64
        /// Date at which the run ends: nanoseconds since the Unix epoch.
        package var end: Int64
        package var segments: Int
    }

    package private(set) var runs: [Run] = []
    /// Number of listed segments that are missing, in all or some of the renditions.
    package private(set) var missing: Int64 = 0
    /// Reason of the last stop of the recording; `nil` if recording was never stopped.
    package let stopReason: String?

    package var isComplete: Bool { self.missing == 0 }

    package init(_ journal: RecordingJournal) {
        self.stopReason = journal.stopReason
        var next: Int64?
        var follows = false
        for segmentSet in journal.segmentSets {
            if let next, segmentSet.mediaSequence > next {
                self.missing &+= segmentSet.mediaSequence - next
                follows = false
            }
            next = segmentSet.mediaSequence + 1
            guard let segment = segmentSet.tracks.first?.segment,
                !segmentSet.tracks.contains(where: { $0.segment.gap })
            else {
                self.missing &+= 1
                follows = false
                continue
            }
            let end = segment.programDate &+ segment.duration.nanoseconds
            if follows, let last = self.runs.indices.last {
                self.runs[last].end = end
                self.runs[last].segments += 1
            } else {
                self.runs.append(Run(start: segment.programDate, end: end, segments: 1))
            }
            follows = true
        }
        if let next, let end = journal.endMediaSequence, end > next { self.missing &+= end - next }
    }

    /// Description for `recording.json`; null for a complete recording.
    var json: JSONValue {
        guard !self.isComplete else { return .null }
        let runs = self.runs.map { run -> JSONValue in
            [
                "from": .string(ProgramDate.format(run.start)), "to": .string(ProgramDate.format(run.end)),
                "segments": JSONValue(run.segments),
            ]
        }
        return [
            "reason": .string(self.stopReason ?? "segments were lost before they could be recorded"),
            "missingSegments": .integer(self.missing), "covered": .array(runs),
        ]
    }
}
