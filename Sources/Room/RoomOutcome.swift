package import MediaTypes
import RoomOutputs

/// Why a room stopped. The process's exit code follows from it.
package enum RoomOutcome: Sendable {
    /// The room has ended, so that no other worker continues it.
    case ended
    /// This worker stops; a successor continues the room.
    case drained
    /// A newer worker serves the room.
    case superseded
    case failed(MediaError)
}

extension RoomOutcome {
    /// Whether the room has ended, so that no other worker continues it.
    var hasEnded: Bool { if case .ended = self { true } else { false } }

    /// How uploads to stores end with this outcome.
    var uploadEnd: UploadService.End {
        switch self {
        case .ended: .ended
        case .drained: .handedOver
        case .failed, .superseded: .abandoned
        }
    }

    /// The state of the recording for events; `null` if the room has no recorder or has not ended, or if nothing was
    /// recorded.
    ///
    /// - Parameters:
    ///   - isRecorded: Whether the room has recorded files, or should have.
    ///   - error: Why recorded files are missing; nil if none are.
    package func recordingWord(hasRecorder: Bool, isRecorded: Bool, error: MediaError?) -> JSONValue {
        guard hasRecorder, case .ended = self else { return .null }
        guard let error else { return isRecorded ? "ready" : .null }
        return error.code == .unfinished ? "unfinished" : "failed"
    }
}
