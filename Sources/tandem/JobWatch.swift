import MediaTypes
import Room
import RoomAPI

/// Ends an offline job (a room without live sources) that makes no progress.
enum JobWatch {
    /// Seconds within which a job that was asked to end must have ended; otherwise its threads are stuck.
    private static let grace = 5

    /// Checks the job once per second until its media is complete. A job without progress is asked to end. If it does
    /// not end, `leave` ends the process.
    ///
    /// - Parameter leave: Called with the reason; must end the process.
    static func follow(_ room: Room, _ leave: @Sendable (MediaError) -> Void) async {
        guard room.isOffline else { return }
        var progress = JobProgress()
        while !Task.isCancelled, room.isMakingMedia {
            try? await Task.sleep(for: .seconds(1))
            guard progress.looked(room.jobMarks) else { continue }
            let error = room.endStalledJob()
            for _ in 0..<self.grace where !Task.isCancelled { try? await Task.sleep(for: .seconds(1)) }
            if Task.isCancelled { return }
            room.abandon(error)
            leave(error)
        }
    }
}
