import Glibc
import HTTPTypes
import HummingbirdCore
package import Logging
package import MediaTypes
package import NIOCore
import NIOPosix
import Synchronization

/// One HTTP/1.1 listener: bound at ``start(listen:limits:group:place:logger:respond:)``, gone after ``stop(within:)``.
package final class HTTPListener: Sendable {
    /// Answers one request. Called on Swift's thread pool, for many connections at once.
    package typealias Responder = @Sendable (ListenerRequest) async -> ListenerReply

    /// The address for a client on this machine, with the port that was bound: `http://127.0.0.1:8080`, `unix:/path`.
    package let boundAddress: String
    /// The port that was bound; `nil` for a Unix socket.
    package let boundPort: Int?

    private let server: Server<HTTP1Channel>
    private let run: Task<Void, Never>
    private let connections: OpenConnections
    private let group: any EventLoopGroup
    private let ownsGroup: Bool
    private let socketPath: String?
    private let isStopped = Mutex(false)

    private init(
        boundAddress: String, boundPort: Int?, server: Server<HTTP1Channel>, run: Task<Void, Never>,
        connections: OpenConnections, group: any EventLoopGroup, ownsGroup: Bool, socketPath: String?
    ) {
        self.boundAddress = boundAddress
        self.boundPort = boundPort
        self.server = server
        self.run = run
        self.connections = connections
        self.group = group
        self.ownsGroup = ownsGroup
        self.socketPath = socketPath
    }

    /// For timers that belong to the listener.
    package var eventLoop: any EventLoop { self.group.next() }

    /// Open connections now.
    package var connectionCount: Int { self.connections.count }

    /// - Parameters:
    ///   - group: Event loops to use; `nil` makes one thread of its own, ended by ``stop(within:)``.
    ///   - place: Names the listener in errors, such as `viewer`.
    /// - Throws: ``MediaError/Code/bindFailed``.
    package static func start(
        listen: ListenAddress, limits: HTTPListenerLimits, group: (any EventLoopGroup)?, place: String, logger: Logger,
        respond: @escaping Responder
    ) async throws(MediaError) -> HTTPListener {
        let loops = group ?? MultiThreadedEventLoopGroup(numberOfThreads: 1)
        do throws(MediaError) {
            return try await Self.start(
                on: loops, isOwned: group == nil, listen: listen, limits: limits, place: place, logger: logger,
                respond: respond)
        } catch {
            if group == nil { try? await loops.shutdownGracefully() }
            throw error
        }
    }

    private static func start(
        on group: any EventLoopGroup, isOwned: Bool, listen: ListenAddress, limits: HTTPListenerLimits, place: String,
        logger: Logger, respond: @escaping Responder
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
        // HummingbirdCore's own lines (started, connection errors) say nothing that ours do not.
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .warning)
        let connections = OpenConnections()
        let bound = group.next().makePromise(of: Int?.self)
        let server = Server(
            childChannelSetup: HTTP1Channel(
                responder: Self.responder(limits: limits, connections: connections, respond: respond),
                configuration: .init(
                    additionalChannelHandlers: [ConnectionDeadlineHandler(limits: limits, connections: connections)],
                    idleTimeout: limits.idle,
                    httpDecoderConfiguration: .init(
                        maxHeaderFieldSize: limits.headerBytes, maxHeaderListSize: limits.headerBytes,
                        maxHeaderFieldCount: 100))),
            configuration: ServerConfiguration(
                address: address, backlog: 256,
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
            boundAddress: listen.url(scheme: "http", boundPort: port), boundPort: port, server: server, run: run,
            connections: connections, group: group, ownsGroup: isOwned, socketPath: socketPath)
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

    /// Takes no more connections, lets replies that have begun end within `grace`, closes the rest. May be called twice.
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
        if self.ownsGroup { try? await self.group.shutdownGracefully() }
    }

    private static func responder(
        limits: HTTPListenerLimits, connections: OpenConnections, respond: @escaping Responder
    ) -> HTTPChannelHandler.Responder {
        { request, writer, channel in
            if request.headers[.expect]?.lowercased() == "100-continue" {
                try await writer.writeInformationalHead(HTTPResponse(status: .continue))
            }
            let body = try await RequestBodyReader(limit: limits.bodyBytes).read(request)
            let reply = await respond(
                ListenerRequest(head: request.head, body: body, client: connections.client(of: channel)))
            let sender = ReplySender(isHead: request.method == .head, now: Int64(time(nil)))
            try await sender.send(reply, to: writer)
            if body == .tooLarge { throw ReplySender.Ending.closeConnection }
        }
    }
}
