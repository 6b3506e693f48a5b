package import HLS
import MediaTypes

/// A named position in a recording.
package struct Chapter: Sendable, Hashable {
    /// Milliseconds from the start of the recording.
    package let startMs: Int64
    package let title: String

    package init(startMs: Int64, title: String) {
        self.startMs = startMs
        self.title = title
    }

    /// The class of the date ranges that become chapters, and the attribute with their title.
    static let rangeClass = "live.tandem.pk"
    static let phase = "X-TANDEM-PHASE"
    /// Title of the time between two PKs.
    static let solo = "solo"

    /// Makes one chapter for each PK phase, and one for each time between them.
    ///
    /// - Parameters:
    ///   - start: Start of the recording, in nanoseconds since the Unix epoch; `end` likewise.
    package static func chapters(_ ranges: [DateRange], from start: Int64, to end: Int64) -> [Chapter] {
        let phases = ranges.filter { $0.rangeClass == self.rangeClass && $0.start < end && ($0.end ?? end) > start }
            .sorted { $0.start < $1.start }
        guard !phases.isEmpty else { return [] }
        var marks: [(date: Int64, title: String)] = []
        var position = start
        for phase in phases {
            // Less than half a second is the seam between two phases.
            if phase.start - position > 500_000_000 { marks.append((position, self.solo)) }
            let name = phase.attributes.first { $0.name == self.phase }?.value ?? phase.id
            marks.append((max(start, phase.start), name))
            position = max(position, phase.end ?? end)
        }
        if end - position > 500_000_000 { marks.append((position, self.solo)) }
        var chapters = marks.map { mark in
            Chapter(startMs: TimeMath.scale(mark.date - start, by: 1, over: 1_000_000), title: mark.title)
        }
        // Players start the first chapter at the start of the file.
        if let first = chapters.first, first.startMs > 0 { chapters[0] = Chapter(startMs: 0, title: first.title) }
        return chapters
    }
}
