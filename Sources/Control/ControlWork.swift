#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif
import Stages

/// The threads that answer operators: what a command waits for (a file on a server that is away, a lock, a picture that is
/// compressed) holds up no other command's thread, nobody who only looks, no probe, and nothing of the media path.
///
/// Two lanes of two threads each, and as many requests waiting as there may be connections.
final class ControlWork: Sendable {
    enum Lane: Sendable { case reads, commands }

    /// Requests that may wait in a lane: fewer than there may be connections, so that some are left for who only looks, and
    /// for probes.
    static let capacity = 224
    private static let threads = 2
    /// As the viewers' listener: a flood of requests takes what the clock, the mixer and the encoders leave.
    static let niceness: Int32 = 5

    private let reads = BoundedQueue<@Sendable () -> Void>(capacity: ControlWork.capacity)
    private let commands = BoundedQueue<@Sendable () -> Void>(capacity: ControlWork.capacity)

    init() {
        for (name, queue) in [("control reads", self.reads), ("control does", self.commands)] {
            for _ in 0..<Self.threads {
                _ = StageThread(name) {
                    Self.yieldToMedia()
                    while let work = queue.take() { work() }
                }
            }
        }
    }

    /// - Returns: False if too much waits, or ``stop()`` has been called; `work` is not done then.
    func submit(_ lane: Lane, _ work: @escaping @Sendable () -> Void) -> Bool {
        switch lane {
        case .reads: self.reads.offer(work)
        case .commands: self.commands.offer(work)
        }
    }

    /// Takes no more. What hangs is left behind: nothing waits for it.
    func stop() {
        self.reads.close()
        self.commands.close()
    }

    /// Gives the calling thread its niceness (on Linux each thread has its own).
    static func yieldToMedia() { _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, Self.niceness) }
}
