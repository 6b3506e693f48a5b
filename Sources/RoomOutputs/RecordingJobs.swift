import Threading

/// Background work: makes the files of recording sessions that have ended while the room continues, one after the
/// other.
package struct RecordingJobs: Sendable {
    /// - Parameter isOver: Asked after each step; if it returns true, then the rest is left to another worker.
    package typealias Work = @Sendable (_ isOver: @escaping @Sendable () -> Bool) -> Void

    private var waiting: [Work] = []
    private var isWorking = false
    /// The thread that does the work; after that, the last one that did.
    var thread: StageThread?
    /// When the rest is left to another worker, because the room ends; on the machine's clock; `nil`: the room
    /// continues.
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

    /// The next work; `nil`: there is no more, and the calling thread must end.
    package mutating func next(at now: Int64) -> Work? {
        guard !self.isOver(at: now), !self.waiting.isEmpty else {
            self.isWorking = false
            return nil
        }
        return self.waiting.removeFirst()
    }

    package func isOver(at now: Int64) -> Bool { self.deadline.map { now > $0 } ?? false }
}
