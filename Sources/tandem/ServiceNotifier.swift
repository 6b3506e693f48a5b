import Libc
import RoomAPI
import Threading

/// Sends notices about the worker's state to a service manager such as systemd.
///
/// Spec: sd_notify(3): datagrams to the socket named by `$NOTIFY_SOCKET`.
struct ServiceNotifier: Sendable {
    /// Interval between two checks of the worker's state.
    private static let look = Duration.milliseconds(200)

    private let socket: NotifySocket
    /// Watchdog timeout of the service manager in nanoseconds; `nil`: no watchdog.
    private let watchdog: Int64?

    /// Opens the connection to the service manager; `nil` if there is none.
    static func open() -> ServiceNotifier? {
        guard let socket = Self.variable("NOTIFY_SOCKET").flatMap({ NotifySocket($0) }) else { return nil }
        // The watchdog settings may be meant for another process.
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

    /// Sends the state of a worker that exits without running a room.
    func tell(_ view: ServiceNotices.View) {
        var outbox = ServiceOutbox(watchdog: self.watchdog)
        outbox.deliver(view, now: SystemClock().now()) { self.socket.send($0) }
    }

    /// Reports the state of a worker to the service manager until the task is cancelled, and once more then.
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
