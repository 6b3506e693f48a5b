/// Which slots an operator wants recorded: whole ones, from the slot of a start's frame to that of a stop's, both among them. No slot is
/// in two takes.
///
/// | state | ``start(at:)`` | ``stop(at:)`` | ``listed(_:)`` |
/// |---|---|---|---|
/// | stopped | → recording, from the frame's slot | nothing | passes the slot |
/// | recording | nothing | → stopping; → stopped where nothing can come yet | keeps it, from the start's frame on |
/// | stopping | the next take begins behind this one | calls that off | keeps it; → stopped or recording at the frame's |
///
/// Pure: no disk, no threads.
package struct TakeGate: Sendable, Hashable {
    package enum Phase: Sendable, Hashable {
        case stopped
        case recording
        /// The take ends with the slot of this frame; `continues`: another follows it.
        case stopping(at: Int64, continues: Bool)
    }

    /// What becomes of a slot.
    package enum Action: Sendable, Hashable {
        /// Nobody keeps it.
        case pass
        /// It is the take's.
        case keep
        /// It is the take's last.
        case keepLast
        /// The take has ended before it; the next one's where `continues`.
        case end(continues: Bool)
    }

    package enum Start: Sendable, Hashable {
        /// It records, or will.
        case already
        /// Another take begins with the slot of the frame.
        case begins
        /// Another take begins behind the one that is ending.
        case follows
    }

    package enum Stop: Sendable, Hashable {
        /// It has stopped, or will.
        case already
        /// The take ends with the slot of the frame.
        case soon
        /// The take is over.
        case now
    }

    package private(set) var phase: Phase
    /// Slots that end before this frame are not asked for.
    private var from = Int64.min
    /// A slot has come: more may be on their way.
    private var hasListed = false

    package init(isRecording: Bool) { self.phase = isRecording ? .recording : .stopped }

    /// A start would change something.
    package var isStartable: Bool {
        switch self.phase {
        case .stopped: true
        case .recording: false
        case .stopping(_, let continues): !continues
        }
    }

    /// A stop would change something.
    package var isStoppable: Bool {
        switch self.phase {
        case .stopped: false
        case .recording: true
        case .stopping(_, let continues): continues
        }
    }

    /// - Parameter frame: On air now; `nil`: the program has not begun.
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

    /// - Parameter frame: On air now; `nil`: the program has not begun.
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

    /// A slot is listed. They come in order.
    ///
    /// - Parameter frames: Of the program.
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
