package import MediaTypes
package import RoomAPI

/// Detects and ends an offline job that makes no progress.
extension Room {
    /// Whether the job still produces media. After that its outputs are completed, which has its own time limits.
    package var isMakingMedia: Bool { self.value.withLock { $0.lifecycle.state != .closed && !$0.lifecycle.isMade } }

    package var jobMarks: JobProgress.Marks { JobProgress.Marks(self.roster, self.program, self.packager) }

    /// Ends a job that makes no progress. The room closes normally if its threads still respond.
    ///
    /// - Returns: The error that the job ends with.
    package func endStalledJob() -> MediaError {
        let error = JobProgress.error(JobProgress.Wait(self.roster, self.packager), tick: self.program.tick)
        self.fail(error)
        return error
    }

    /// Emits `room.closed` for a job whose threads do not respond.
    package func abandon(_ error: MediaError) {
        self.events.emit(
            "room.closed",
            [
                "outcome": "failed", "reason": .string(error.description), "code": .string(error.code.description),
                "played": .bool(self.wasPlayed),
            ])
    }
}
