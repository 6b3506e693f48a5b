package import MediaTypes
package import RoomOutputs

/// How a room that is over is judged: the word in `room.closed`, and the error that the exit code follows from. A value.
///
/// - An offline job whose output is not whole has failed (74).
/// - A live room cannot be made again. If its end is recorded, then it is over (0), damaged or not, and an orchestrator must not start
///   it again; if a worker can still complete something, then the room is unfinished (75).
package struct RoomVerdict: Sendable, Hashable {
    /// `ended`, `damaged`, `drained`, `superseded` or `failed`.
    package let word: String
    /// `nil`: the exit code is that of the outcome alone.
    package let error: MediaError?

    /// - Parameters:
    ///   - debt: What the next worker can complete.
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
            self.error = isOffline ? damage.error(published: published) ?? debt : debt.map { Self.owed($0) }
        }
    }

    /// A debt of a live room as the exit code tells it: whatever kept the worker from completing it, the next one can.
    package static func owed(_ debt: MediaError) -> MediaError {
        guard debt.code == .outputLost || debt.code == .diskFull else { return debt }
        return MediaError(.unfinished, debt.what, at: debt.place, fix: debt.fix)
    }
}
