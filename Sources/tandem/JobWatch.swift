import MediaTypes
import Room
import RoomAPI

/// Ends an offline job that makes nothing any more.
enum JobWatch {
    /// Time in which a job that was told to end must be over; its threads do not answer otherwise.
    private static let grace = 5

    /// Looks at the job once a second until its media is made. A job that does not get on is told to end; if it does not, then
    /// the process ends.
    ///
    /// - Parameter leave: Ends the process.
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
