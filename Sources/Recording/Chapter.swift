package import HLS
import MediaTypes

/// A chapter mark: a named position in a recording.
package struct Chapter: Sendable, Hashable {
    /// Position in milliseconds from the start of the recording.
    package let startMs: Int64
    package let title: String

    package init(startMs: Int64, title: String) {
        self.startMs = startMs
        self.title = title
    }

    /// The class of the date ranges that become chapters.
    static let rangeClass = "live.tandem.pk"
    /// The attribute of these date ranges that becomes the chapter's title.
    static let phase = "X-TANDEM-PHASE"
    /// Title of the chapters before, between and after PK sessions.
    static let solo = "solo"

    /// Makes a chapter for each phase of a PK session, and one for each time of more than half a second without a session;
    /// none if the recording contains no PK session. The first chapter begins at 0.
    ///
    /// - Parameters:
    ///   - ranges: Date ranges of all classes; only those of PK phases count.
    ///   - start: Start of the recording, in nanoseconds since the Unix epoch; `end` likewise.
    package static func chapters(_ ranges: [DateRange], from start: Int64, to end: Int64) -> [Chapter] {
        let phases = ranges.filter { $0.rangeClass == self.rangeClass && $0.start < end && ($0.end ?? end) > start }
            .sorted { $0.start < $1.start }
        guard !phases.isEmpty else { return [] }
        var marks: [(date: Int64, title: String)] = []
        var position = start
        for phase in phases {
            // A gap of less than half a second is only the transition between two phases.
            if phase.start - position > 500_000_000 { marks.append((position, self.solo)) }
            let name = phase.attributes.first { $0.name == self.phase }?.value ?? phase.id
            marks.append((max(start, phase.start), name))
            position = max(position, phase.end ?? end)
        }
        if end - position > 500_000_000 { marks.append((position, self.solo)) }
        var chapters = marks.map { mark in
            Chapter(startMs: TimeMath.scale(mark.date - start, by: 1, over: 1_000_000), title: mark.title)
        }
        // The first chapter begins at the start of the file, as players expect.
        if let first = chapters.first, first.startMs > 0 { chapters[0] = Chapter(startMs: 0, title: first.title) }
        return chapters
    }
}
