import Events
package import MediaTypes
package import PipelineSpec
package import Program

/// A room at one moment, as several replies, the metrics and the summary show it.
package struct RoomFacts: Sendable {
    package let pipeline: Pipeline
    package let incarnation: Int64
    /// The word for the room's state, such as `live`.
    package let phase: String
    package let tick: Int64
    package let stats: ProgramStage.Stats
    /// How far the program is behind its clock, in nanoseconds.
    let lag: Int64
    /// Frames that wait to be encoded.
    package let backlog: Int
    /// Segments that this worker has published.
    package let segments: Int64
    package let overload: OverloadReply
    /// In the order of the pipeline.
    package let sources: [SourceFacts]

    /// The words for the states of a room.
    package static let states = [
        "starting", "waiting", "preparing", "live", "recovering", "degraded", "ending", "draining", "failed", "closed",
    ]

    /// Reads the program's counters.
    ///
    /// - Parameters:
    ///   - lag: How far the program is behind its clock, in nanoseconds.
    ///   - backlog: Frames that wait to be encoded.
    ///   - sources: Makes the facts of each source, in the order of the pipeline.
    package init(
        _ pipeline: Pipeline, incarnation: Int64, phase: String, program: ProgramStage, lag: Int64, backlog: Int,
        segments: Int64, overload: OverloadReply, sources: (ProgramStage.Stats) -> [SourceFacts]
    ) {
        self.pipeline = pipeline
        self.incarnation = incarnation
        self.phase = phase
        self.stats = program.stats
        self.tick = program.tick
        self.lag = lag
        self.backlog = backlog
        self.segments = segments
        self.overload = overload
        self.sources = sources(self.stats)
    }

    /// A room at a glance, for a progress line.
    package var progress: RoomProgress {
        RoomProgress(
            seconds: Int(self.stats.ticks) / max(1, self.pipeline.canvas.fps), late: self.stats.late,
            lost: self.stats.lost,
            sources: self.pipeline.sources.map { source in
                let facts = self.sources.first { $0.id == source.id }
                return (source.name ?? source.id.description, facts?.status.state ?? "idle")
            })
    }
}

/// A room at a glance, for a progress line.
package struct RoomProgress: Sendable {
    /// Of media that the program has made.
    package var seconds: Int
    /// Frames that were made after they were due.
    package var late: Int64
    /// Frames that could not be made.
    package var lost: Int64
    /// In the order of the pipeline.
    package var sources: [(name: String, state: String)]
}

extension ProgramStage.Stats: ReplyValue {
    package static var replyShape: JSONShape { .named("Ticks") }

    package var replyValue: JSONValue {
        let repeated = self.repeated.sorted { $0.key.description < $1.key.description }
        return [
            "frames": .integer(self.ticks), "late": .integer(self.late), "lost": .integer(self.lost),
            "longestSwapUs": .integer(self.longestSwap / 1000),
            "repeated": .object(repeated.map { .init($0.key.description, .integer($0.value)) }),
        ]
    }
}
