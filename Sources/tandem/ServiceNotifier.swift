#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif
import MediaTypes
import NIOCore
import NIOPosix
import Room

/// Tells a service manager how the room is: that it is ready, what it is doing whenever that changes, that it lives, that it is stopping.
///
/// The sign of life is sent only while the room's loops advance: a worker that hangs is started anew.
///
/// Spec: sd_notify(3): a datagram to the socket `$NOTIFY_SOCKET` names.
struct ServiceNotifier: Sendable {
    /// Between two looks at the room.
    private static let look: Int64 = 200_000_000
    /// Time a draining worker asks for, again and again.
    private static let stopTime = 5_000_000

    private let channel: any Channel
    /// Nanoseconds between two signs of life; `nil`: none is asked for.
    private let watchdog: Int64?

    /// `nil` where no service manager asks, or where its socket cannot be reached.
    static func open() async -> ServiceNotifier? {
        guard let socket = Self.variable("NOTIFY_SOCKET"), socket.hasPrefix("/") else { return nil }
        let bootstrap = DatagramBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        guard let channel = try? await bootstrap.connect(unixDomainSocketPath: socket).get() else { return nil }
        // Meant for another process when it says so.
        let isOurs = Self.variable("WATCHDOG_PID").map { $0 == "\(getpid())" } ?? true
        let limit = isOurs ? Self.variable("WATCHDOG_USEC").flatMap { Int64($0) } : nil
        let interval = limit.flatMap { (1...86_400_000_000).contains($0) ? $0 * 500 : nil }
        return ServiceNotifier(channel: channel, watchdog: interval)
    }

    private static func variable(_ name: String) -> String? {
        guard let value = getenv(name) else { return nil }
        let text = String(cString: value)
        return text.isEmpty ? nil : text
    }

    /// Follows the room until it is closed or the task is cancelled.
    func follow(_ room: Room) async {
        var (isReady, isStopping) = (false, false)
        var (status, lifeIn): (String, Int64) = ("", 0)
        while !Task.isCancelled {
            var lines: [String] = []
            let state = room.state
            if !isReady, state != .starting {
                isReady = true
                lines.append("READY=1")
            }
            if !isStopping, [.ending, .draining, .closed].contains(state) {
                isStopping = true
                lines.append("STOPPING=1")
            }
            let said = room.statusLine
            if isReady, said != status {
                status = said
                lines.append("STATUS=\(said)")
            }
            if isStopping, state != .closed { lines.append("EXTEND_TIMEOUT_USEC=\(Self.stopTime)") }
            if let watchdog = self.watchdog, lifeIn <= 0, room.isAlive {
                lifeIn = watchdog
                lines.append("WATCHDOG=1")
            }
            if !lines.isEmpty { await self.send(lines.joined(separator: "\n")) }
            try? await Task.sleep(for: .nanoseconds(Self.look))
            lifeIn -= Self.look
        }
        try? await self.channel.close().get()
    }

    private func send(_ text: String) async {
        guard let address = self.channel.remoteAddress else { return }
        let datagram = AddressedEnvelope(remoteAddress: address, data: ByteBuffer(string: text))
        try? await self.channel.writeAndFlush(datagram).get()
    }
}
