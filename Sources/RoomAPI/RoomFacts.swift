import Events
package import MediaTypes
package import PipelineSpec
package import Program

/// The state of a room at one moment, from which replies, metrics and the summary are made.
package struct RoomFacts: Sendable {
    package let pipeline: Pipeline
    package let incarnation: Int64
    /// The room's phase as the API shows it, such as `live`.
    package let phase: String
    package let tick: Int64
    package let stats: ProgramStage.Stats
    /// How far the program is behind its clock, in nanoseconds.
    let lag: Int64
    /// Number of composed frames that wait to be scaled for the encoders.
    package let backlog: Int
    /// Segments that this worker has published.
    package let segments: Int64
    package let overload: OverloadReply
    /// The sources, in the order of the pipeline.
    package let sources: [SourceFacts]

    /// All values of ``phase``.
    package static let states = [
        "starting", "waiting", "preparing", "live", "recovering", "degraded", "ending", "draining", "failed", "closed",
    ]

    /// Reads the counters of the program.
    ///
    /// - Parameters:
    ///   - lag: How far the program is behind its clock, in nanoseconds.
    ///   - backlog: Number of composed frames that wait to be scaled for the encoders.
    ///   - sources: Returns the state of each source, in the order of the pipeline.
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

    /// The state of the room for a progress line on the terminal.
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

/// The state of a room for a progress line on the terminal.
package struct RoomProgress: Sendable {
    /// Length of the program so far, in seconds of media.
    package var seconds: Int
    /// Number of frames whose composing began more than half a frame interval late.
    package var late: Int64
    /// Number of frames that were not encoded, because the encoders' queue was full or no frame was composed yet.
    package var lost: Int64
    /// Name and state of each source, in the order of the pipeline.
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
