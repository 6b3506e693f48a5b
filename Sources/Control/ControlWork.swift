import Libc
import Threading

/// The threads that answer operators. A command that blocks (on a remote file or a lock) delays no probe, no reading
/// request except that of the document, nothing on the media path, and never the end of the room.
///
/// Each kind of request (lane) has its own queue and threads.
final class ControlWork: Sendable {
    enum Lane: Sendable, CaseIterable {
        case reads
        /// Requests without a valid token, most of which are refused.
        case strangers
        /// Commands that need no scene to be built, such as cover, mute or kick.
        case commands
        /// Commands that may wait until a scene is built. They are carried out one at a time.
        case scenes
        /// Reads and changes of the room's document, one request at a time.
        case document
        /// Commands to end or drain the room.
        case leaving

        fileprivate var threads: Int {
            switch self {
            case .reads, .commands: 2
            case .strangers, .scenes, .document, .leaving: 1
            }
        }
    }

    /// Largest number of requests that wait in a lane. It is less than the number of connections, so that some
    /// connections remain for reading requests and probes.
    static let capacity = 224
    /// Niceness of the threads, the same as that of the viewers' listener: a flood of requests gets only the CPU time
    /// that the clock, the mixer and the encoders leave.
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

    /// Queues the work for a request.
    ///
    /// - Returns: False if too many requests wait, or after ``stop()``; then `work` is not run.
    func submit(_ lane: Lane, _ work: @escaping @Sendable () -> Void) -> Bool {
        self.queues[lane]?.offer(work) ?? false
    }

    /// Accepts no more work. Does not wait for threads that are blocked.
    func stop() {
        for queue in self.queues.values { queue.close() }
    }

    /// Sets the niceness of the calling thread (on Linux each thread has its own).
    static func yieldToMedia() { _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, Self.niceness) }
}
