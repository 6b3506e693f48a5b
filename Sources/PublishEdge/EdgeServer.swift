import Ingest
package import Logging
package import MediaTypes
import NIOCore
import NIOPosix
import NIOSSL
import PipelineSpec
import Synchronization
import TLSFiles
import Libc

/// An edge for RTMP publishers: accepts them at one address, and forwards each one to the room of its stream key.
///
/// Runs one event-loop thread of its own. It has no state that another edge would need: any number of them can run side by
/// side. Life cycle: ``start()`` once, then ``stop(within:)`` once.
package final class EdgeServer: Sendable {
    /// Bytes per read before a publisher is forwarded: more than the handshake and `connect` together.
    private static let usualRead = 16 << 10

    private let settings: EdgeSettings
    private let logger: Logger
    private let group: MultiThreadedEventLoopGroup
    private let loop: any EventLoop
    private let core: NIOLoopBoundBox<EdgeCore>
    private let channels = Mutex<[any Channel]>([])
    package let counters = SharedCounters()

    /// - Parameter clock: For deadlines and rate limits.
    package init(_ settings: EdgeSettings, clock: any MonotonicClock, logger: Logger) {
        self.settings = settings
        self.logger = logger
        self.group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        self.loop = self.group.next()
        self.core = NIOLoopBoundBox.makeBoxSendingValue(
            EdgeCore(settings, clock, logger, self.loop, self.counters), eventLoop: self.loop)
    }

    /// Binds and listens.
    ///
    /// - Returns: The bound addresses, `HOST:PORT`.
    /// - Throws: ``MediaError/Code/bindFailed``, ``MediaError/Code/rejected`` for a certificate that cannot be used.
    package func start() async throws(MediaError) -> (plain: String?, secure: String?) {
        var bound: (plain: String?, secure: String?) = (nil, nil)
        if let listen = self.settings.listen { bound.plain = try await self.bind(listen, "--listen", tls: nil) }
        if let secure = self.settings.secure {
            let context: NIOSSLContext
            do {
                context = try NIOSSLContext(configuration: secure.certificates.serverConfiguration())
            } catch {
                throw MediaError(
                    .rejected, "cannot set up TLS with the certificate: \(error)", at: "--tls-listen",
                    fix: "check the certificate and the key with `openssl`")
            }
            bound.secure = try await self.bind(secure.listen, "--tls-listen", tls: context)
        }
        return bound
    }

    private func bind(_ listen: String, _ field: String, tls: NIOSSLContext?) async throws(MediaError) -> String {
        guard let address = try? ListenAddress(parsing: listen), case .tcp(let host, let port) = address else {
            throw MediaError(
                .bindFailed, "`\(listen)` is not HOST:PORT", at: field,
                fix: "write HOST:PORT, with port 0 for any free port")
        }
        let channel: any Channel
        do {
            channel = try await self.bootstrap(tls).bind(host: host, port: Int(port)).get()
        } catch {
            throw .bindFailed(address, error, at: field)
        }
        self.channels.withLock { $0.append(channel) }
        let text = channel.localAddress.map(Self.text) ?? listen
        self.logger.info("listening for \(tls == nil ? "RTMP" : "RTMPS")", metadata: ["address": "\(text)"])
        return text
    }

    private func bootstrap(_ tls: NIOSSLContext?) -> ServerBootstrap {
        let sharing = ChannelOptions.Types.SocketOption(level: .socket, name: .init(rawValue: SO_REUSEPORT))
        return ServerBootstrap(group: self.group)
            .serverChannelOption(.backlog, value: 1024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(sharing, value: self.settings.sharesPort ? 1 : 0)
            .childChannelInitializer { [core] channel in
                channel.eventLoop.makeCompletedFuture {
                    let address = channel.remoteAddress?.ipAddress.flatMap { IPAddress($0) }
                    // Handlers in the order of the bytes: PROXY header, then TLS, then RTMP.
                    if core.value.isProxy(address) {
                        try channel.pipeline.syncOperations.addHandler(ProxyHeaderHandler())
                    }
                    if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
                    try channel.pipeline.syncOperations.addHandler(
                        EdgePublisherHandler(
                            core: core.value, remote: channel.remoteAddress.map(Self.text) ?? "unknown",
                            address: address, port: channel.remoteAddress?.port ?? 0, isSecure: tls != nil,
                            random: Self.randomBytes()))
                }
            }
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.socketOption(.so_keepalive), value: 1)
            .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: Self.usualRead))
            .childChannelOption(.maxMessagesPerRead, value: 4)
    }

    /// Accepts no more connections, waits until the publishers have left, closes the rest, and ends the thread.
    ///
    /// - Parameter drain: Maximum time to wait, in nanoseconds; 0: none. Cancelling the task ends the wait.
    package func stop(within drain: Int64) async {
        let channels = self.channels.withLock { channels in
            defer { channels = [] }
            return channels
        }
        // An error leaves nothing to do here or below: the process or the event loop ends without these channels.
        for channel in channels { try? await channel.close().get() }
        var left = drain
        let step: Int64 = 50_000_000
        while left > 0, self.counters.value.connections > 0, !Task.isCancelled {
            try? await Task.sleep(nanoseconds: UInt64(step))
            left -= step
        }
        let count = try? await self.loop.submit { [core] in
            let handlers = Array(core.value.handlers.values)
            for handler in handlers { handler.stop() }
            return handlers.count
        }.get()
        // Publishers and rooms get what is still to be written to them.
        if let count, count > 0 { try? await self.loop.scheduleTask(in: .milliseconds(100)) {}.futureResult.get() }
        try? await self.group.shutdownGracefully()
    }

    private static func randomBytes() -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        var bytes: [UInt8] = []
        bytes.reserveCapacity(1528)
        for _ in 0..<191 {
            let word = random.next()
            for shift in stride(from: UInt64(0), to: 64, by: 8) {
                bytes.append(UInt8(truncatingIfNeeded: word >> shift))
            }
        }
        return bytes
    }

    private static func text(_ address: SocketAddress) -> String {
        let host = address.ipAddress ?? "?"
        return host.contains(":") ? "[\(host)]:\(address.port ?? 0)" : "\(host):\(address.port ?? 0)"
    }
}
