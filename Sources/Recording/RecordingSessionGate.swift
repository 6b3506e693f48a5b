/// Decides which segments belong to a recording session that an operator starts and stops: whole segments, from the one
/// that contains the start frame to the one that contains the stop frame. No segment belongs to two sessions.
///
/// | state | ``start(at:)`` | ``stop(at:)`` | ``listed(_:)`` |
/// |---|---|---|---|
/// | stopped | → recording, from the segment with the frame | no effect | skips the segment |
/// | recording | no effect | → stopping; → stopped before the program begins | keeps it, from the start frame on |
/// | stopping | plans another session | cancels that plan | keeps it; → stopped or recording at the stop frame |
///
/// A pure value without disk access or threads.
package struct RecordingSessionGate: Sendable, Hashable {
    package enum Phase: Sendable, Hashable {
        case stopped
        case recording
        /// The session ends with the segment that contains this frame; if `continues` is true, another session follows.
        case stopping(at: Int64, continues: Bool)
    }

    /// What to do with a listed segment.
    package enum Action: Sendable, Hashable {
        /// The segment is not recorded.
        case pass
        /// The segment belongs to the current session.
        case keep
        /// The segment is the last one of the current session.
        case keepLast
        /// The current session ended before the segment, which belongs to the next session if `continues` is true.
        case end(continues: Bool)
    }

    package enum Start: Sendable, Hashable {
        /// The room is already being recorded, or will be.
        case already
        /// A new session begins with the segment that contains the frame.
        case begins
        /// A new session begins after the session that is ending.
        case follows
    }

    package enum Stop: Sendable, Hashable {
        /// Recording has already stopped, or will.
        case already
        /// The recording session ends with the segment that contains the frame at which it was stopped.
        case soon
        /// The session has ended at once, because the program has not begun.
        case now
    }

    package private(set) var phase: Phase
    /// Segments that end at or before this frame are not recorded.
    private var from = Int64.min
    /// Whether a segment has been listed, so that more may follow.
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

    /// Starts a recording session.
    ///
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

    /// Stops the recording session.
    ///
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

    /// Decides what to do with the next listed segment. Call this for all segments in order.
    ///
    /// - Parameter frames: Frames of the segment, counted from the room's origin.
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
