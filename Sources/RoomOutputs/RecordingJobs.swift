import Threading

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
