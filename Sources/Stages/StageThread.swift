#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif
import Dispatch
import Synchronization

/// One thread made for one stage of the media path, with its codec contexts born and freed on it.
///
/// Decoding and encoding block for milliseconds and would starve a cooperative pool, so between ingest and packager
/// there are threads and bounded queues, no actors.
package final class StageThread: Sendable {
    private let finished = DispatchSemaphore(value: 0)
    package let name: String

    /// Starts a thread that runs `body` once.
    ///
    /// - Parameters:
    ///   - name: At most 15 characters are shown by `top -H` and debuggers.
    ///   - keepsTime: The kernel is asked to run it before other threads that are ready, so that what it does on time is not
    ///     late when the machine is full. Needs CAP_SYS_NICE or a limit (`LimitNICE=` of systemd, `ulimit -e`); without, it
    ///     is a thread as any other.
    ///   - yields: The kernel runs it when no other thread is ready, nearly: for what may take as long as it takes.
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
        // 1 MiB holds the deepest stacks seen (libx264's, libavfilter's) many times over; the default of 8 is only
        // address space, but a room with forty threads should not look like 320 MiB.
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
        // A machine that has no thread left for a room cannot run it; the supervisor's restart is the remedy.
        guard status == 0 else { fatalError("the system refused a thread for stage \(name): errno \(status)") }
    }

    /// Runs `body` on a thread of its own, for work that blocks.
    package static func run<Result: Sendable>(
        _ name: String, _ body: @escaping @Sendable () -> Result
    ) async -> Result {
        await withCheckedContinuation { continuation in
            _ = StageThread(name) { continuation.resume(returning: body()) }
        }
    }

    /// Blocks until the body has returned. May be called once.
    package func join() { self.finished.wait() }

    /// Blocks until the body has returned, at most so many nanoseconds. Where it has not, the thread is left behind.
    ///
    /// - Returns: Whether it has; then ``join()`` is not called any more.
    package func join(within nanoseconds: Int64) -> Bool {
        self.finished.wait(timeout: .now() + .nanoseconds(Int(clamping: max(0, nanoseconds)))) == .success
    }

    /// `pthread_setname_np` is a GNU extension that the C module does not show; the kernel's file does the same.
    private static func nameCurrentThread(_ name: String) {
        let file = open("/proc/thread-self/comm", O_WRONLY)
        guard file >= 0 else { return }
        _ = name.withCString { write(file, $0, strlen($0)) }
        close(file)
    }

    /// On Linux a niceness is each thread's own (setpriority(2)). Refused without the right to: nothing is lost then.
    private static func weighCurrentThread(_ niceness: Int32) {
        _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, niceness)
    }

    private final class Start: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}
