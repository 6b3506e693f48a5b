package import Admission
package import Logging
package import MediaTypes
import NIOCore
import NIOPosix
import PipelineSpec
package import RTMP
import Synchronization

/// The RTMP server of a room: many publishers on one port, each bound to its source by its stream key.
///
/// One event-loop thread of its own. Life: ``start()`` once, then ``stop()`` once.
package final class IngestServer: Sendable {
    private struct Running {
        var channel: (any Channel)?
        var isStopped = false
    }

    private let configuration: IngestConfiguration
    private let emit: @Sendable (IngestEvent) -> Void
    private let logger: Logger
    private let hubs: [SourceID: SourceHub]
    private let group: MultiThreadedEventLoopGroup
    private let loop: any EventLoop
    private let core: NIOLoopBoundBox<IngestCore>
    private let running = Mutex(Running())

    /// - Parameters:
    ///   - clock: Stamps the arrival of packets, and is what deadlines count on.
    ///   - events: Called on the event loop; must not block.
    package init(
        configuration: IngestConfiguration, clock: any MonotonicClock, logger: Logger,
        events: @escaping @Sendable (IngestEvent) -> Void
    ) {
        self.configuration = configuration
        self.emit = events
        self.logger = logger
        var hubs: [SourceID: SourceHub] = [:]
        for source in configuration.admission.sources { hubs[source] = SourceHub(source: source) }
        self.hubs = hubs
        self.group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        self.loop = self.group.next()
        self.core = NIOLoopBoundBox.makeBoxSendingValue(
            IngestCore(configuration: configuration, clock: clock, logger: logger, hubs: hubs, emit: events),
            eventLoop: self.loop)
        for (source, hub) in hubs {
            hub.onFullChange { [loop, core] isFull in
                loop.execute { core.value.publisher(of: source)?.setPaused(isFull) }
            }
        }
    }

    /// Where `source` can be read; nil when no key is bound to it.
    package func hub(for source: SourceID) -> SourceHub? { self.hubs[source] }

    /// Counts of every source.
    package var statistics: [SourceID: SourceStatistics] { self.hubs.mapValues(\.statistics) }

    /// Binds and listens.
    ///
    /// - Returns: The bound address, `HOST:PORT`; it has been told as ``IngestEvent/listening(address:)`` too.
    /// - Throws: ``MediaError/Code/bindFailed``.
    @discardableResult
    package func start() async throws(MediaError) -> String {
        guard case .tcp(let host, let port) = try? ListenAddress(parsing: self.configuration.listen) else {
            throw self.bindFailure("`\(self.configuration.listen)` is not HOST:PORT")
        }
        let channel: any Channel
        do {
            channel = try await self.bootstrap().bind(host: host, port: Int(port)).get()
        } catch {
            throw self.bindFailure("\(host):\(port) cannot be listened on: \(error)")
        }
        let bound = channel.localAddress.map(IngestServer.text) ?? self.configuration.listen
        let isStopped = self.running.withLock { running in
            running.channel = channel
            return running.isStopped
        }
        if isStopped { channel.close(promise: nil) }
        self.logger.info("listening for RTMP", metadata: ["address": "\(bound)"])
        self.loop.execute { [core] in core.value.address = bound }
        self.emit(.listening(address: bound))
        return bound
    }

    /// Sends the publisher of `source` away; it sees `reason`.
    package func disconnect(_ source: SourceID, _ refusal: PublishRefusal) {
        self.loop.execute { [core] in core.value.publisher(of: source)?.refuse(refusal) }
    }

    /// From now on publishers must present these keys; those who publish go on.
    package func replaceKeys(_ bindings: [IngestBinding], secrets: [String]) {
        self.loop.execute { [core] in
            core.value.admission.bindings = bindings
            core.value.admission.signed?.secrets = secrets
        }
    }

    /// Closes the listener and every connection, and ends the thread.
    package func stop() async {
        let (channel, wasStopped) = self.running.withLock { running in
            defer { running.isStopped = true }
            return (running.channel, running.isStopped)
        }
        if wasStopped { return }
        // Neither can fail in a way that leaves something to do: the process or the group goes on without them.
        try? await channel?.close().get()
        try? await self.loop.submit { [core, hubs] in
            for source in hubs.keys { core.value.publisher(of: source)?.refuse(.ended) }
        }.get()
        try? await self.loop.submit { [core] in core.value.client }.get()?.shutdown()
        try? await self.group.shutdownGracefully()
    }

    private func bootstrap() -> ServerBootstrap {
        ServerBootstrap(group: self.group)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { [core] channel in
                channel.eventLoop.makeCompletedFuture {
                    let remote = channel.remoteAddress.map(IngestServer.text) ?? "unknown"
                    let handler = RTMPConnectionHandler(
                        core: core.value, remote: remote,
                        address: channel.remoteAddress?.ipAddress.flatMap { IPAddress($0) },
                        port: channel.remoteAddress?.port ?? 0,
                        random: IngestServer.randomBytes())
                    try channel.pipeline.syncOperations.addHandler(handler)
                }
            }
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.socketOption(.so_keepalive), value: 1)
            // Large reads: the cost of ingest is system calls, not bytes.
            .childChannelOption(
                .recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 64 << 10)
            )
            .childChannelOption(.maxMessagesPerRead, value: 4)
    }

    /// For S1.
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

    private func bindFailure(_ what: String) -> MediaError {
        MediaError(
            .bindFailed, what, at: "ingest",
            fix: "choose another `ingest.rtmp.listen`, or port 0 for any free one")
    }
}
