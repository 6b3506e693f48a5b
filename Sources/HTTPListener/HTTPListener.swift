import Libc
import HummingbirdCore
package import Logging
package import MediaTypes
package import NIOCore
import NIOPosix
import Threading
import Synchronization
package import TLSFiles

/// One HTTP listener: bound by ``start(listen:limits:certificates:proxies:group:place:logger:respond:)``, closed by
/// ``stop(within:)``. Without a certificate it speaks HTTP/1.1; with a certificate HTTP/2 and HTTP/1.1 over TLS 1.2 or
/// later.
package final class HTTPListener: Sendable {
    /// Answers one request by calling `answer` exactly once, immediately or later, from any thread. Called on the
    /// connection's event loop, which many connections share: it must not block.
    package typealias Responder =
        @Sendable (_ request: ListenerRequest, _ answer: @escaping @Sendable (ListenerReply) -> Void) -> Void

    /// URL of the listener for a client on this machine, with the bound port: `http://127.0.0.1:8080`, `https://…` with
    /// TLS, `unix:/path`.
    package let boundAddress: String
    /// The bound port; `nil` for a Unix socket.
    package let boundPort: Int?

    /// Maximum number of connections in the kernel's accept queue: this many players may connect at the same moment,
    /// when a room begins. A connection that does not fit is retried after a second.
    private static let backlog = 1_024

    private let server: Server<ListenerChannel>
    private let run: Task<Void, Never>
    private let connections: OpenConnections
    /// Counts the listener's replies and bytes.
    package let counters: ReplyCounters
    private let gate: Gate
    private let group: any EventLoopGroup
    private let ownsGroup: Bool
    private let socketPath: String?
    private let isStopped = Mutex(false)

    private init(
        boundAddress: String, boundPort: Int?, server: Server<ListenerChannel>, run: Task<Void, Never>,
        connections: OpenConnections, counters: ReplyCounters, gate: Gate, group: any EventLoopGroup, ownsGroup: Bool,
        socketPath: String?
    ) {
        self.boundAddress = boundAddress
        self.boundPort = boundPort
        self.server = server
        self.run = run
        self.connections = connections
        self.counters = counters
        self.gate = gate
        self.group = group
        self.ownsGroup = ownsGroup
        self.socketPath = socketPath
    }

    /// Event loop for timers that belong to the listener.
    package var eventLoop: any EventLoop { self.group.next() }

    /// Current number of open connections.
    package var connectionCount: Int { self.connections.count }

    /// Opens a listener and starts to accept connections.
    ///
    /// - Parameters:
    ///   - certificates: Certificate for TLS; `nil`: no TLS. The caller reloads it when the files change.
    ///   - proxies: Proxies whose connections may begin with a header that names the client; `nil`: none.
    ///   - group: Event loops to use; `nil` creates one thread, which ``stop(within:)`` ends.
    ///   - place: Name of the listener in errors, such as `viewer`.
    /// - Throws: ``MediaError/Code/bindFailed``; ``MediaError/Code/rejected`` if TLS cannot use the certificate.
    package static func start(
        listen: ListenAddress, limits: HTTPListenerLimits, certificates: CertificateStore? = nil,
        proxies: HTTPProxies? = nil, group: (any EventLoopGroup)?, place: String, logger: Logger,
        respond: @escaping Responder
    ) async throws(MediaError) -> HTTPListener {
        let loops = group ?? MultiThreadedEventLoopGroup(numberOfThreads: 1)
        do throws(MediaError) {
            return try await Self.start(
                on: loops, isOwned: group == nil, listen: listen, limits: limits, certificates: certificates,
                proxies: proxies, place: place, logger: logger, respond: respond)
        } catch {
            if group == nil { try? await loops.shutdownGracefully() }
            throw error
        }
    }

    private static func start(
        on group: any EventLoopGroup, isOwned: Bool, listen: ListenAddress, limits: HTTPListenerLimits,
        certificates: CertificateStore?, proxies: HTTPProxies?, place: String, logger: Logger,
        respond: @escaping Responder
    ) async throws(MediaError) -> HTTPListener {
        var socketPath: String?
        let address: BindAddress
        switch listen {
        case .tcp(let host, let port): address = .hostname(host, port: Int(port))
        case .unix(let path):
            try await UnixSocketFile.prepare(path, group: group, place: place)
            socketPath = path
            address = .unixDomainSocket(path: path)
        }
        // HummingbirdCore's own log lines (started, connection errors) add nothing to ours.
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .warning)
        let connections = OpenConnections()
        let counters = ReplyCounters()
        let service = RequestService(
            limits: limits, connections: connections, counters: counters, proxies: proxies, respond: respond)
        let channel: ListenerChannel
        do {
            channel = try ListenerChannel(service, connections: connections, certificates: certificates)
        } catch {
            throw MediaError(
                .rejected, "cannot set up TLS with the certificate: \(error)", at: place,
                fix: "check the certificate and the key with `openssl`")
        }
        let bound = group.next().makePromise(of: Int?.self)
        let server = Server(
            childChannelSetup: channel,
            configuration: ServerConfiguration(
                address: address, backlog: Self.backlog,
                availableConnectionsDelegate: MaximumAvailableConnections(limits.connections, logger: quiet)),
            onServerRunning: { bound.succeed($0.localAddress?.port) },
            eventLoopGroup: group, logger: quiet)
        let run = Task {
            do {
                try await server.run()
            } catch {
                bound.fail(error)
            }
        }
        let port: Int?
        do {
            port = try await bound.futureResult.get()
        } catch {
            throw .bindFailed(listen, error, at: place)
        }
        let listener = HTTPListener(
            boundAddress: listen.url(scheme: certificates == nil ? "http" : "https", boundPort: port), boundPort: port,
            server: server, run: run,
            connections: connections, counters: counters, gate: service.gate, group: group, ownsGroup: isOwned,
            socketPath: socketPath)
        if let socketPath {
            do throws(MediaError) {
                try UnixSocketFile.makePrivate(socketPath, place: place)
            } catch {
                await listener.stop(within: .seconds(0))
                throw error
            }
        }
        return listener
    }

    /// Closes the connections that are open after `delay`; new ones may still be opened.
    package func closeConnections(in delay: TimeAmount) {
        self.gate.pass { [connections] in
            _ = self.group.next().scheduleTask(in: delay) { connections.closeAll() }
        }
    }

    /// Accepts no more connections, lets replies in progress finish within `grace`, and closes the rest. May be called
    /// twice.
    package func stop(within grace: TimeAmount = .seconds(3)) async {
        guard
            !self.isStopped.withLock({ wasStopped in
                defer { wasStopped = true }
                return wasStopped
            })
        else { return await self.run.value }
        let deadline = self.group.next().scheduleTask(in: grace) { [connections] in connections.closeAll() }
        try? await self.server.shutdownGracefully()
        await self.run.value
        deadline.cancel()
        if let socketPath { UnixSocketFile.remove(socketPath) }
        self.gate.close()
        if self.ownsGroup { try? await self.group.shutdownGracefully() }
    }
}
