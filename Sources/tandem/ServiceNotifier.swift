#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif
import Room
import RoomAPI
import Stages

/// Tells a service manager what ``ServiceOutbox`` has for it.
///
/// Spec: sd_notify(3): datagrams to the socket that `$NOTIFY_SOCKET` names.
struct ServiceNotifier: Sendable {
    /// Between two looks at the worker.
    private static let look = Duration.milliseconds(200)

    private let socket: NotifySocket
    /// Nanoseconds within which a sign of life must come; `nil`: none is asked for.
    private let watchdog: Int64?

    /// `nil` where no service manager asks.
    static func open() -> ServiceNotifier? {
        guard let socket = Self.variable("NOTIFY_SOCKET").flatMap({ NotifySocket($0) }) else { return nil }
        // Meant for another process when it says so.
        let isOurs = Self.variable("WATCHDOG_PID").map { $0 == "\(getpid())" } ?? true
        let limit = isOurs ? Self.variable("WATCHDOG_USEC").flatMap { Int64($0) } : nil
        let interval = limit.flatMap { (1...86_400_000_000).contains($0) ? $0 * 1_000 : nil }
        return ServiceNotifier(socket: socket, watchdog: interval)
    }

    private static func variable(_ name: String) -> String? {
        guard let value = getenv(name) else { return nil }
        let text = String(cString: value)
        return text.isEmpty ? nil : text
    }

    /// Tells of a worker that has nothing to do.
    func tell(_ view: ServiceNotices.View) {
        var outbox = ServiceOutbox(watchdog: self.watchdog)
        outbox.deliver(view, now: SystemClock().now()) { self.socket.send($0) }
    }

    /// Follows a worker until the task is cancelled, and tells the last of it then.
    func follow(_ view: @Sendable () -> ServiceNotices.View) async {
        var outbox = ServiceOutbox(watchdog: self.watchdog)
        while true {
            let isLast = Task.isCancelled
            outbox.deliver(view(), now: SystemClock().now()) { self.socket.send($0) }
            if isLast { return }
            try? await Task.sleep(for: Self.look)
        }
    }
}
