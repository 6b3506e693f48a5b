package import MediaTypes
import RoomOutputs

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

extension RoomOutcome {
    /// Whether the room has ended: no other worker continues it.
    var hasEnded: Bool { if case .ended = self { true } else { false } }

    /// How the room ends for its stores.
    var uploadEnd: UploadService.End {
        switch self {
        case .ended: .ended
        case .drained: .handedOver
        case .failed, .superseded: .abandoned
        }
    }

    /// The state of a room's recording; `null` if there is none, or nothing in it.
    ///
    /// - Parameters:
    ///   - isRecorded: Whether the room has recorded files, or should have.
    ///   - error: Why some of them are missing; nil if none is.
    package func recordingWord(hasRecorder: Bool, isRecorded: Bool, error: MediaError?) -> JSONValue {
        guard hasRecorder, case .ended = self else { return .null }
        guard let error else { return isRecorded ? "ready" : .null }
        return error.code == .unfinished ? "unfinished" : "failed"
    }
}
