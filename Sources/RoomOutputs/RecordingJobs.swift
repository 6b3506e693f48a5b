import Threading

/// Queue of background work that makes the files of ended recording sessions while the room continues, one session at a
/// time.
package struct RecordingJobs: Sendable {
    /// The work for one session.
    ///
    /// - Parameter isOver: Called after each step. If it returns true, then the rest is left to another worker.
    package typealias Work = @Sendable (_ isOver: @escaping @Sendable () -> Bool) -> Void

    private var waiting: [Work] = []
    private var isWorking = false
    /// The thread that does the work; when it has ended, the last such thread.
    var thread: StageThread?
    /// When the rest is left undone because the room ends or is handed over, on the monotonic clock; nil while the room
    /// continues.
    package var deadline: Int64?

    package init() {}

    /// Adds the work for a session.
    ///
    /// - Returns: Whether the caller must start a thread for it.
    package mutating func add(_ work: @escaping Work) -> Bool {
        self.waiting.append(work)
        guard !self.isWorking else { return false }
        self.isWorking = true
        return true
    }

    /// The next work. nil means that none is left and that the calling thread must end.
    package mutating func next(at now: Int64) -> Work? {
        guard !self.isOver(at: now), !self.waiting.isEmpty else {
            self.isWorking = false
            return nil
        }
        return self.waiting.removeFirst()
    }

    package func isOver(at now: Int64) -> Bool { self.deadline.map { now > $0 } ?? false }
}
