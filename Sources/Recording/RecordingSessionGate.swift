/// Chooses the slots that an operator wants recorded: whole slots, from the slot of the start frame to that of the stop
/// frame, both included. No slot belongs to two sessions.
///
/// | state | ``start(at:)`` | ``stop(at:)`` | ``listed(_:)`` |
/// |---|---|---|---|
/// | stopped | → recording, from the frame's slot | no effect | skips the slot |
/// | recording | no effect | → stopping; → stopped before the program begins | keeps it, from the start frame on |
/// | stopping | plans another session | cancels that plan | keeps it; → stopped or recording at the frame's slot |
///
/// Pure: no disk, no threads.
package struct RecordingSessionGate: Sendable, Hashable {
    package enum Phase: Sendable, Hashable {
        case stopped
        case recording
        /// The session ends with the slot of this frame; `continues`: another one follows.
        case stopping(at: Int64, continues: Bool)
    }

    /// What to do with a slot.
    package enum Action: Sendable, Hashable {
        /// Not recorded.
        case pass
        /// Belongs to the session.
        case keep
        /// The last slot of the session.
        case keepLast
        /// The session ended before it; the slot belongs to the next session if `continues`.
        case end(continues: Bool)
    }

    package enum Start: Sendable, Hashable {
        /// It is already recording, or will be.
        case already
        /// A new session begins with the slot of the frame.
        case begins
        /// A new session begins after the one that is ending.
        case follows
    }

    package enum Stop: Sendable, Hashable {
        /// It has already stopped, or will.
        case already
        /// The session ends with the slot of the frame.
        case soon
        /// The session has ended.
        case now
    }

    package private(set) var phase: Phase
    /// Slots that end at or before this frame are skipped.
    private var from = Int64.min
    /// A segment has arrived, so more may follow.
    private var hasListed = false

    package init(isRecording: Bool) { self.phase = isRecording ? .recording : .stopped }

    /// Whether a start would have an effect.
    package var isStartable: Bool {
        switch self.phase {
        case .stopped: true
        case .recording: false
        case .stopping(_, let continues): !continues
        }
    }

    /// Whether a stop would have an effect.
    package var isStoppable: Bool {
        switch self.phase {
        case .stopped: false
        case .recording: true
        case .stopping(_, let continues): continues
        }
    }

    /// - Parameter frame: The frame on air; `nil` before the program begins.
    package mutating func start(at frame: Int64?) -> Start {
        switch self.phase {
        case .stopped:
            (self.phase, self.from) = (.recording, frame ?? .min)
            return .begins
        case .stopping(at: let end, continues: false):
            self.phase = .stopping(at: end, continues: true)
            return .follows
        case .recording, .stopping: return .already
        }
    }

    /// - Parameter frame: The frame on air; `nil` before the program begins.
    package mutating func stop(at frame: Int64?) -> Stop {
        switch self.phase {
        case .recording:
            guard frame != nil || self.hasListed else {
                self.phase = .stopped
                return .now
            }
            self.phase = .stopping(at: frame ?? .min, continues: false)
            return .soon
        case .stopping(at: let end, continues: true):
            self.phase = .stopping(at: end, continues: false)
            return .soon
        case .stopped, .stopping: return .already
        }
    }

    /// Decides about the next listed slot. Slots come in order.
    ///
    /// - Parameter frames: Frames of the slot, in the program.
    package mutating func listed(_ frames: Range<Int64>) -> Action {
        self.hasListed = true
        switch self.phase {
        case .stopped: return .pass
        case .recording: return frames.upperBound > self.from ? .keep : .pass
        case .stopping(let end, let continues):
            guard frames.upperBound > end else { return frames.upperBound > self.from ? .keep : .pass }
            self.phase = continues ? .recording : .stopped
            self.from = .min
            return frames.lowerBound > end ? .end(continues: continues) : .keepLast
        }
    }
}
