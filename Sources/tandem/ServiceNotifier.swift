#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif
import MediaTypes
import NIOCore
import NIOPosix
import Room
import Stages

/// Tells a service manager what ``ServiceNotices`` has for it.
///
/// Spec: sd_notify(3): a datagram to the socket `$NOTIFY_SOCKET` names.
struct ServiceNotifier: Sendable {
    /// Between two looks at the worker.
    private static let look = Duration.milliseconds(200)

    private let channel: any Channel
    /// Nanoseconds within which a sign of life must come; `nil`: none is asked for.
    private let watchdog: Int64?

    /// `nil` where no service manager asks, or where its socket cannot be reached.
    static func open() async -> ServiceNotifier? {
        guard let socket = Self.variable("NOTIFY_SOCKET"), socket.hasPrefix("/") else { return nil }
        let bootstrap = DatagramBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        guard let channel = try? await bootstrap.connect(unixDomainSocketPath: socket).get() else { return nil }
        // Meant for another process when it says so.
        let isOurs = Self.variable("WATCHDOG_PID").map { $0 == "\(getpid())" } ?? true
        let limit = isOurs ? Self.variable("WATCHDOG_USEC").flatMap { Int64($0) } : nil
        let interval = limit.flatMap { (1...86_400_000_000).contains($0) ? $0 * 1_000 : nil }
        return ServiceNotifier(channel: channel, watchdog: interval)
    }

    private static func variable(_ name: String) -> String? {
        guard let value = getenv(name) else { return nil }
        let text = String(cString: value)
        return text.isEmpty ? nil : text
    }

    /// Follows a worker until the task is cancelled, and tells the last of it then.
    func follow(_ view: @Sendable () -> ServiceNotices.View) async {
        var notices = ServiceNotices(watchdog: self.watchdog)
        while true {
            let isLast = Task.isCancelled
            for datagram in notices.next(view(), now: SystemClock().now()) { await self.send(datagram) }
            if isLast { break }
            try? await Task.sleep(for: Self.look)
        }
        try? await self.channel.close().get()
    }

    private func send(_ text: String) async {
        guard let address = self.channel.remoteAddress else { return }
        let datagram = AddressedEnvelope(remoteAddress: address, data: ByteBuffer(string: text))
        try? await self.channel.writeAndFlush(datagram).get()
    }
}
