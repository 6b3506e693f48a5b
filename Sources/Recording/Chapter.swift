package import HLS
import MediaTypes

/// A place in a recording that has a name.
package struct Chapter: Sendable, Hashable {
    /// Milliseconds from the recording's beginning.
    package let startMs: Int64
    package let title: String

    package init(startMs: Int64, title: String) {
        self.startMs = startMs
        self.title = title
    }

    /// The class of date ranges that chapters are made of, and the attribute that names them.
    static let rangeClass = "live.tandem.pk"
    static let phase = "X-TANDEM-PHASE"
    /// What is between two PKs.
    static let solo = "solo"

    /// One for each PK phase, and one for each time between them.
    ///
    /// - Parameters:
    ///   - start: When the recording begins, in nanoseconds since the Unix epoch; `end` when it is over.
    package static func chapters(_ ranges: [DateRange], from start: Int64, to end: Int64) -> [Chapter] {
        let phases = ranges.filter { $0.rangeClass == self.rangeClass && $0.start < end && ($0.end ?? end) > start }
            .sorted { $0.start < $1.start }
        guard !phases.isEmpty else { return [] }
        var marks: [(date: Int64, title: String)] = []
        var position = start
        for phase in phases {
            // What is shorter than a moment is the seam between two phases.
            if phase.start - position > 500_000_000 { marks.append((position, self.solo)) }
            let name = phase.attributes.first { $0.name == self.phase }?.value ?? phase.id
            marks.append((max(start, phase.start), name))
            position = max(position, phase.end ?? end)
        }
        if end - position > 500_000_000 { marks.append((position, self.solo)) }
        var chapters = marks.map { mark in
            Chapter(startMs: TimeMath.scale(mark.date - start, by: 1, over: 1_000_000), title: mark.title)
        }
        // Players begin the first chapter where the file begins.
        if let first = chapters.first, first.startMs > 0 { chapters[0] = Chapter(startMs: 0, title: first.title) }
        return chapters
    }
}
