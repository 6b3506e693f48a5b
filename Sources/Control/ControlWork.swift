#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif
import Stages

/// The threads that answer operators: what a command waits for (a file on a server that is away, a lock, a picture that is
/// compressed) holds up nobody who only looks, no probe, nothing of the media path, and never what ends the room.
///
/// A queue for each lane, in which as many requests may wait as there may be connections, and threads of its own.
final class ControlWork: Sendable {
    enum Lane: Sendable, CaseIterable {
        case reads
        /// Requests without a token, most of which are refused.
        case strangers
        /// Commands that take effect at once, such as a cover, a mute or a kick.
        case commands
        /// Commands that may wait for a scene to be built, one after the other.
        case scenes
        /// The room's document, which is read and written one after the other.
        case document
        /// The room's end, and its drain.
        case leaving

        fileprivate var threads: Int {
            switch self {
            case .reads, .commands: 2
            case .strangers, .scenes, .document, .leaving: 1
            }
        }
    }

    /// Requests that may wait in a lane: fewer than there may be connections, so that some are left for who only looks, and
    /// for probes.
    static let capacity = 224
    /// As the viewers' listener: a flood of requests takes what the clock, the mixer and the encoders leave.
    static let niceness: Int32 = 5

    private let queues: [Lane: BoundedQueue<@Sendable () -> Void>]

    init() {
        self.queues = Dictionary(
            uniqueKeysWithValues: Lane.allCases.map { ($0, BoundedQueue(capacity: Self.capacity)) })
        for (lane, queue) in self.queues {
            for _ in 0..<lane.threads {
                _ = StageThread("ctl \(lane)") {
                    Self.yieldToMedia()
                    while let work = queue.take() { work() }
                }
            }
        }
    }

    /// - Returns: False if too much waits, or ``stop()`` has been called; `work` is not done then.
    func submit(_ lane: Lane, _ work: @escaping @Sendable () -> Void) -> Bool {
        self.queues[lane]?.offer(work) ?? false
    }

    /// Takes no more. What hangs is left behind: nothing waits for it.
    func stop() {
        for queue in self.queues.values { queue.close() }
    }

    /// Gives the calling thread its niceness (on Linux each thread has its own).
    static func yieldToMedia() { _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, Self.niceness) }
}
