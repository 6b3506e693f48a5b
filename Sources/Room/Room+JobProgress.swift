package import MediaTypes
package import RoomAPI

/// Ends an offline job that makes no progress.
extension Room {
    /// Whether media is still being produced. After that the outputs are completed, with limits of their own.
    package var isMakingMedia: Bool { self.value.withLock { $0.lifecycle.state != .closed && !$0.lifecycle.isMade } }

    package var jobMarks: JobProgress.Marks {
        let decoded = self.slots.values.reduce(0) { sum, slot in
            let stats = slot.decode.stats
            return sum + stats.videoPackets + stats.audioPackets
        }
        return JobProgress.Marks(
            tick: self.program.tick, audio: self.program.soundPosition, decoded: Int64(decoded),
            coded: self.packager?.lastPacketAt ?? 0)
    }

    /// Ends a job that makes no progress. The room closes in order if its threads still respond.
    ///
    /// - Returns: The error that the job ends with.
    package func endStalledJob() -> MediaError {
        let error = JobProgress.error(self.jobWait, tick: self.program.tick)
        self.fail(error)
        return error
    }

    /// Emits the last event of a job whose threads do not respond.
    package func abandon(_ error: MediaError) {
        self.events.emit(
            "room.closed",
            [
                "outcome": "failed", "reason": .string(error.description), "code": .string(error.code.description),
                "played": .bool(self.wasPlayed),
            ])
    }

    private var jobWait: JobProgress.Wait {
        if let packager = self.packager, packager.isWaitingForStore { return .store(packager.directory) }
        let waiting = self.slots.values.filter { $0.buffer.isAwaited && $0.decode.queued == 0 }
        let paths = waiting.compactMap { slot -> String? in
            if case .file(let path, _) = slot.spec.input { path } else { nil }
        }
        return paths.isEmpty ? .itself : .files(paths.sorted())
    }
}
