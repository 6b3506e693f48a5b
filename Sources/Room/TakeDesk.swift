import MediaTypes
import Stages
import Synchronization

/// Makes files of what of a recording is over while the room goes on: one take after the other, on a thread that gives way to all
/// others, so that no picture of the program is late for it.
final class TakeDesk: Sendable {
    /// - Parameter isOver: Asked after each step; where it says so, the rest is left to another worker.
    typealias Work = @Sendable (_ isOver: @escaping @Sendable () -> Bool) -> Void

    private struct State {
        var waiting: [Work] = []
        var isWorking = false
        /// The one that works, or worked last.
        var thread: StageThread?
        /// On ``clock``; `nil`: the room goes on.
        var deadline: Int64?
    }

    private let clock: any MonotonicClock
    private let state = Mutex(State())

    init(clock: any MonotonicClock) { self.clock = clock }

    func add(_ work: @escaping Work) {
        self.state.withLock { state in
            state.waiting.append(work)
            guard !state.isWorking else { return }
            state.isWorking = true
            state.thread = StageThread("record", yields: true) { self.run() }
        }
    }

    private func run() { while let work = self.take() { work { self.isOver } } }

    private func take() -> Work? {
        let isOver = self.isOver
        return self.state.withLock { state -> Work? in
            guard !isOver, !state.waiting.isEmpty else {
                state.isWorking = false
                return nil
            }
            return state.waiting.removeFirst()
        }
    }

    private var isOver: Bool {
        guard let deadline = self.state.withLock({ $0.deadline }) else { return false }
        return self.clock.now() > deadline
    }

    /// The room is over: what is not done by then is left to another worker.
    ///
    /// - Parameter deadline: On ``clock``, in nanoseconds.
    func leave(by deadline: Int64) { self.state.withLock { $0.deadline = deadline } }

    /// Once nothing is added any more: waits for what has been. Blocks.
    ///
    /// - Returns: Whether it is done, or left, in so many nanoseconds.
    @discardableResult
    func join(within nanoseconds: Int64) -> Bool {
        let thread = self.state.withLock { state -> StageThread? in
            defer { state.thread = nil }
            return state.thread
        }
        return thread?.join(within: nanoseconds) ?? true
    }
}
