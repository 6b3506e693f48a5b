package import MediaTypes

/// Why a room stopped; the process's exit code follows from it.
package enum RoomOutcome: Sendable {
    /// The room is over: everything flushed, playlists closed.
    case ended
    /// This worker stops, the room goes on in a successor.
    case drained
    /// A newer worker serves the room.
    case superseded
    case failed(MediaError)
}
