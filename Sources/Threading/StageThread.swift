import Libc
import Dispatch

/// A thread for one stage of the media path, or for other work that blocks. A stage creates and frees its codec
/// contexts on its thread.
///
/// Decoding and encoding block for milliseconds and would starve a cooperative pool, so between ingest and packager
/// there are threads and bounded queues instead of actors.
package final class StageThread: Sendable {
    private let finished = DispatchSemaphore(value: 0)
    package let name: String

    /// Starts a thread that runs `body` once.
    ///
    /// - Parameters:
    ///   - name: Name of the thread; `top -H` and debuggers show at most 15 characters.
    ///   - keepsTime: Whether to raise the thread's priority, so that time-critical work is not late on a busy machine.
    ///     Requires CAP_SYS_NICE or a limit (`LimitNICE=` of systemd, `ulimit -e`); otherwise it has no effect.
    ///   - yields: Whether to lower the thread's priority, for work that is not urgent; needs no permission.
    package init(
        _ name: String, keepsTime: Bool = false, yields: Bool = false, _ body: @escaping @Sendable () -> Void
    ) {
        self.name = name
        let finished = self.finished
        let start = Start {
            Self.nameCurrentThread(String(name.prefix(15)))
            if keepsTime { Self.weighCurrentThread(-10) }
            if yields { Self.weighCurrentThread(15) }
            body()
            finished.signal()
        }
        var thread = pthread_t()
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        // 1 MiB is many times the deepest stacks seen (libx264's, libavfilter's). The default of 8 MiB is only address
        // space, but a room with forty threads should not appear to use 320 MiB.
        pthread_attr_setstacksize(&attributes, 1 << 20)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        let status = pthread_create(
            &thread, &attributes,
            { context in
                guard let context else { return nil }
                Unmanaged<Start>.fromOpaque(context).takeRetainedValue().body()
                return nil
            }, Unmanaged.passRetained(start).toOpaque())
        pthread_attr_destroy(&attributes)
        // A machine that cannot create another thread cannot run the room; the supervisor's restart is the remedy.
        guard status == 0 else { fatalError("the system refused a thread for stage \(name): errno \(status)") }
    }

    /// Runs `body` on a thread of its own, for work that blocks, and returns its result without blocking the caller's
    /// thread.
    package static func run<Result: Sendable>(
        _ name: String, _ body: @escaping @Sendable () -> Result
    ) async -> Result {
        await withCheckedContinuation { continuation in
            _ = StageThread(name) { continuation.resume(returning: body()) }
        }
    }

    /// Blocks until the body has returned. May be called once.
    package func join() { self.finished.wait() }

    /// Blocks until the body has returned, for at most the given number of nanoseconds. If it has not returned then,
    /// the thread continues to run.
    ///
    /// - Returns: Whether the body has returned. If `true`, ``join()`` must not be called any more: it would block
    ///   without end.
    package func join(within nanoseconds: Int64) -> Bool {
        self.finished.wait(timeout: .now() + .nanoseconds(Int(clamping: max(0, nanoseconds)))) == .success
    }

    /// Sets the name of the calling thread through /proc, because `pthread_setname_np` is a GNU extension that the C
    /// module does not export.
    private static func nameCurrentThread(_ name: String) {
        let file = open("/proc/thread-self/comm", O_WRONLY)
        guard file >= 0 else { return }
        _ = name.withCString { write(file, $0, strlen($0)) }
        close(file)
    }

    /// Sets the nice value of the calling thread: on Linux each thread has its own (setpriority(2)). Does nothing
    /// without the permission.
    private static func weighCurrentThread(_ niceness: Int32) {
        _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, niceness)
    }

    private final class Start: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}
