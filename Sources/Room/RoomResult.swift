package import MediaTypes
package import RoomOutputs

/// The final result of a room: the outcome in `room.closed`, and the error that determines the exit code.
///
/// - An offline job with an incomplete output has failed (exit code 74).
/// - A live room cannot be repeated. If its end is recorded, then it has ended (0), even with damaged outputs, and an
///   orchestrator must not start it again. If another worker can still complete an output, then the room is unfinished
///   (75).
package struct RoomResult: Sendable, Hashable {
    /// The outcome in `room.closed`: `ended`, `damaged`, `drained`, `superseded` or `failed`.
    package let word: String
    /// The error for the exit code; nil if the exit code follows from the outcome alone.
    package let error: MediaError?

    /// - Parameters:
    ///   - pendingWork: Incomplete outputs that the next worker can complete; nil if there are none.
    ///   - published: Number of segments that the HLS output has published.
    package init(
        _ outcome: RoomOutcome, isOffline: Bool, damage: OutputDamage, pendingWork: MediaError?, published: Int64 = 0
    ) {
        switch outcome {
        case .drained: (self.word, self.error) = ("drained", nil)
        case .superseded: (self.word, self.error) = ("superseded", nil)
        case .failed(let error): (self.word, self.error) = ("failed", error)
        case .ended:
            self.word = damage.isEmpty ? "ended" : "damaged"
            self.error =
                isOffline ? damage.error(published: published) ?? pendingWork : pendingWork.map { Self.unfinished($0) }
        }
    }

    /// The error that the exit code reports for incomplete outputs of a live room. It is `unfinished` even if this
    /// worker failed because of its disk, since the next worker may succeed.
    package static func unfinished(_ pendingWork: MediaError) -> MediaError {
        guard pendingWork.code == .outputLost || pendingWork.code == .diskFull else { return pendingWork }
        return MediaError(.unfinished, pendingWork.what, at: pendingWork.place, fix: pendingWork.fix)
    }
}
