package import MediaTypes

/// Why a room stopped; the process's exit code follows from it.
package enum RoomOutcome: Sendable {
    /// The room has ended: everything is flushed and the playlists are closed.
    case ended
    /// This worker stops; the room continues in a successor.
    case drained
    /// A newer worker serves the room.
    case superseded
    case failed(MediaError)
}
