import MediaTypes
import Stages

/// Recording sessions that are over while the room goes on, and whose files are made one after the other.
package struct RecordingJobs: Sendable {
    /// - Parameter isOver: Asked after each step; if it returns true, then the rest is left to another worker.
    package typealias Work = @Sendable (_ isOver: @escaping @Sendable () -> Bool) -> Void

    private var waiting: [Work] = []
    private var isWorking = false
    /// The thread that works, or worked last.
    var thread: StageThread?
    /// When the room's end leaves the rest to another worker, on the machine's clock; `nil`: the room goes on.
    package var deadline: Int64?

    package init() {}

    /// Adds work.
    ///
    /// - Returns: Whether a thread has to be started for it.
    package mutating func add(_ work: @escaping Work) -> Bool {
        self.waiting.append(work)
        guard !self.isWorking else { return false }
        self.isWorking = true
        return true
    }

    /// The next work; `nil`: the thread that asks is to end.
    package mutating func next(at now: Int64) -> Work? {
        guard !self.isOver(at: now), !self.waiting.isEmpty else {
            self.isWorking = false
            return nil
        }
        return self.waiting.removeFirst()
    }

    package func isOver(at now: Int64) -> Bool { self.deadline.map { now > $0 } ?? false }
}

extension Room {
    /// Makes files of a finished recording session, on a thread that gives way to all others, so that no frame of the program is
    /// late for it. Returns at once.
    func addRecordingJob(_ work: @escaping RecordingJobs.Work) {
        self.value.withLock { value in
            guard value.recordingJobs.add(work) else { return }
            // The value is held here, so that the room's end finds the thread.
            value.recordingJobs.thread = StageThread("record", yields: true) { self.runRecordingJobs() }
        }
    }

    private func runRecordingJobs() {
        while true {
            let now = self.machine.now()
            guard let work = self.value.withLock({ $0.recordingJobs.next(at: now) }) else { return }
            work {
                let now = self.machine.now()
                return self.value.withLock { $0.recordingJobs.isOver(at: now) }
            }
        }
    }

    /// The room is over: what is not done by `deadline`, in nanoseconds of the machine's clock, is left to another worker.
    func leaveRecordingJobs(by deadline: Int64) { self.value.withLock { $0.recordingJobs.deadline = deadline } }

    /// Waits for the work that has been added, when no more is added. Blocks.
    ///
    /// - Returns: Whether it is done, or left, in so many nanoseconds.
    @discardableResult
    func joinRecordingJobs(within nanoseconds: Int64) -> Bool {
        let thread = self.value.withLock { $0.recordingJobs.thread.take() }
        return thread?.join(within: nanoseconds) ?? true
    }
}
