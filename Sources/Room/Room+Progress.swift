import Program

/// Values of a room for a progress line.
package struct RoomProgress: Sendable {
    package var seconds: Int
    package var late: Int64
    package var lost: Int64
    package var sources: [(name: String, state: String)]
}

extension Room {
    package var progress: RoomProgress {
        let stats = self.program.stats
        return RoomProgress(
            seconds: Int(stats.ticks) / max(1, self.fps), late: stats.late, lost: stats.lost,
            sources: self.pipeline.sources.map { source in
                (source.name ?? source.id.description, self.slots[source.id]?.state.rawValue ?? "idle")
            })
    }
}
