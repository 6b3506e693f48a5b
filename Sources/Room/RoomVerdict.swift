package import MediaTypes
package import RoomOutputs

/// The verdict on an ended room: the word in `room.closed`, and the error that determines the exit code. A value.
///
/// - An offline job with an incomplete output has failed (74).
/// - A live room cannot be repeated. If its end is recorded, then it has ended (0), damaged or not, and an orchestrator
///   must not start it again; if a worker can still complete something, then the room is unfinished (75).
package struct RoomVerdict: Sendable, Hashable {
    /// `ended`, `damaged`, `drained`, `superseded` or `failed`.
    package let word: String
    /// `nil`: the exit code follows from the outcome alone.
    package let error: MediaError?

    /// - Parameters:
    ///   - debt: Work that the next worker can complete.
    ///   - published: Segments of the first output.
    package init(
        _ outcome: RoomOutcome, isOffline: Bool, damage: OutputDamage, debt: MediaError?, published: Int64 = 0
    ) {
        switch outcome {
        case .drained: (self.word, self.error) = ("drained", nil)
        case .superseded: (self.word, self.error) = ("superseded", nil)
        case .failed(let error): (self.word, self.error) = ("failed", error)
        case .ended:
            self.word = damage.isEmpty ? "ended" : "damaged"
            self.error = isOffline ? damage.error(published: published) ?? debt : debt.map { Self.unfinished($0) }
        }
    }

    /// The error that the exit code reports for pending work of a live room: whatever kept this worker from completing
    /// it, the next one can.
    package static func unfinished(_ debt: MediaError) -> MediaError {
        guard debt.code == .outputLost || debt.code == .diskFull else { return debt }
        return MediaError(.unfinished, debt.what, at: debt.place, fix: debt.fix)
    }
}
