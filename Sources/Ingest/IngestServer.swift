package import Admission
package import Logging
package import MediaTypes
import NIOCore
import NIOPosix
import NIOSSL
import PipelineSpec
package import RTMP
import Stages
import Synchronization

/// The RTMP server of a room: many publishers on one port, each bound to its source by its stream key.
///
/// One event-loop thread of its own. Life: ``start()`` once, then ``stop()`` once.
package final class IngestServer: Sendable {
    private struct Running {
        var channels: [any Channel] = []
        /// What publishers that are sent away still have to be told through.
        var datagrams: [any Channel] = []
        var isStopped = false
    }

    private let configuration: IngestConfiguration
    private let emit: @Sendable (IngestEvent) -> Void
    private let logger: Logger
    private let hubs: Mutex<[SourceID: SourceHub]>
    private let group: MultiThreadedEventLoopGroup
    private let loop: any EventLoop
    private let core: NIOLoopBoundBox<IngestCore>
    private let doors: NIOLoopBoundBox<[SRTDoor]>
    /// To the event loop, for whoever may come when the server has stopped.
    private let gate = Gate()
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
        self.hubs = Mutex(hubs)
        self.group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        self.loop = self.group.next()
        self.core = NIOLoopBoundBox.makeBoxSendingValue(
            IngestCore(
                configuration: configuration, clock: clock, logger: logger, hubs: hubs, gate: self.gate, emit: events),
            eventLoop: self.loop)
        self.doors = NIOLoopBoundBox.makeBoxSendingValue([], eventLoop: self.loop)
        for hub in hubs.values { self.watch(hub) }
    }

    private func watch(_ hub: SourceHub) {
        let source = hub.source
        hub.onFullChange { [weak self] isFull in
            self?.tell { $0.publisher(of: source)?.setPaused(isFull) }
        }
    }

    /// Does `work` on the event loop soon; never when the server has stopped.
    private func tell(_ work: @escaping @Sendable (IngestCore) -> Void) {
        self.gate.pass { self.loop.execute { [core] in work(core.value) } }
    }

    /// Does `work` on the event loop, and waits for it: for publishers that come by another way than the server's sockets. Not from an
    /// event loop, and not once the server has stopped.
    package func perform<Result: Sendable>(
        _ work: @escaping @Sendable (IngestCore) throws -> Result
    ) throws -> Result {
        try self.loop.submit { [core] in try work(core.value) }.wait()
    }

    /// What a publisher has to read that it shall connect anew.
    private static let handOverTime = TimeAmount.milliseconds(500)

    /// What one read takes from somebody who does not publish yet, in bytes: more than the handshake and `connect` together.
    private static let usualRead = 16 << 10

    /// Where `source` can be read; nil when no key is bound to it.
    package func hub(for source: SourceID) -> SourceHub? { self.hubs.withLock { $0[source] } }

    /// Counts of every source.
    package var statistics: [SourceID: SourceStatistics] { self.hubs.withLock { $0 }.mapValues(\.statistics) }

    /// Binds and listens.
    ///
    /// - Returns: The bound addresses, `HOST:PORT`; they have been told as events too.
    /// - Throws: ``MediaError/Code/bindFailed``, ``MediaError/Code/rejected`` for a certificate that cannot be used.
    @discardableResult
    package func start() async throws(MediaError) -> (plain: String?, secure: String?, srt: String?) {
        var bound: (plain: String?, secure: String?, srt: String?) = (nil, nil, nil)
        if let listen = self.configuration.listen {
            let address = try await self.bind(listen, "ingest.rtmp.listen", tls: nil)
            self.tell { $0.address = address }
            self.logger.info("listening for RTMP", metadata: ["address": "\(address)"])
            self.emit(.listening(address: address))
            bound.plain = address
        }
        if let secure = self.configuration.secure {
            let context: NIOSSLContext
            do {
                context = try NIOSSLContext(configuration: secure.certificates.serverConfiguration())
            } catch {
                throw MediaError(
                    .rejected, "TLS cannot be set up with the certificate: \(error)", at: "ingest",
                    fix: "check certificate and key with openssl")
            }
            let address = try await self.bind(secure.listen, "ingest.rtmps.listen", tls: context)
            self.logger.info("listening for RTMPS", metadata: ["address": "\(address)"])
            self.emit(.listeningSecurely(address: address))
            bound.secure = address
        }
        if let srt = self.configuration.srt { bound.srt = try await self.bindSRT(srt) }
        return bound
    }

    private func bindSRT(_ settings: SRTSettings) async throws(MediaError) -> String {
        guard case .tcp(let host, let port) = try? ListenAddress(parsing: settings.listen) else {
            throw self.bindFailure("`\(settings.listen)` is not HOST:PORT", "ingest.srt.listen")
        }
        let channel: any Channel
        do {
            channel = try await DatagramBootstrap(group: self.group)
                .channelOption(.socketOption(.so_rcvbuf), value: 1 << 20)
                .channelOption(.datagramVectorReadMessageCount, value: 16)
                .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 16 * 2048))
                .channelInitializer { [core, loop, doors] channel in
                    channel.eventLoop.makeCompletedFuture {
                        let door = SRTDoor(core: core.value, settings: settings, loop: loop)
                        doors.value.append(door)
                        try channel.pipeline.syncOperations.addHandler(door)
                    }
                }
                .bind(host: host, port: Int(port)).get()
        } catch {
            throw self.bindFailure("\(settings.listen) cannot be listened on: \(error)", "ingest.srt.listen")
        }
        let address = channel.localAddress.map(IngestServer.text) ?? settings.listen
        self.tell { $0.srtAddress = address }
        self.logger.info("listening for SRT", metadata: ["address": "\(address)"])
        self.emit(.listeningForSRT(address: address))
        self.running.withLock { $0.datagrams.append(channel) }
        return address
    }

    private func bind(_ listen: String, _ field: String, tls: NIOSSLContext?) async throws(MediaError) -> String {
        guard case .tcp(let host, let port) = try? ListenAddress(parsing: listen) else {
            throw self.bindFailure("`\(listen)` is not HOST:PORT", field)
        }
        let channel: any Channel
        do {
            channel = try await self.bootstrap(tls).bind(host: host, port: Int(port)).get()
        } catch {
            throw self.bindFailure("\(listen) cannot be listened on: \(error)", field)
        }
        let isStopped = self.running.withLock { running in
            running.channels.append(channel)
            return running.isStopped
        }
        if isStopped { channel.close(promise: nil) }
        return channel.localAddress.map(IngestServer.text) ?? listen
    }

    /// Sends the publisher of `source` away; it sees `reason`.
    package func disconnect(_ source: SourceID, _ refusal: PublishRefusal) {
        self.tell { $0.publisher(of: source)?.refuse(refusal) }
    }

    /// Sends the publisher of `source` away, if there is one; nobody may publish it until `deadline`, in nanoseconds of the
    /// server's clock. One that has passed lifts what was refused before.
    package func kick(_ source: SourceID, until deadline: Int64) {
        self.tell { $0.kick(source, .kicked, until: deadline) }
    }

    /// From now on publishers must present these keys; those who publish go on.
    package func replaceKeys(_ bindings: [IngestBinding], secrets: [String]) {
        self.tell { core in
            core.admission.bindings = bindings
            core.admission.signed?.secrets = secrets
        }
    }

    /// Publishers may come for another source as soon as ``renew(_:)`` names it.
    ///
    /// - Returns: Where it can be read; the one that is there already for a source that is not new.
    package func add(_ source: SourceID, _ settings: IngestConfiguration.Source) -> SourceHub {
        let (hub, isNew) = self.hubs.withLock { hubs -> (SourceHub, Bool) in
            if let hub = hubs[source] { return (hub, false) }
            let hub = SourceHub(source: source)
            hubs[source] = hub
            return (hub, true)
        }
        if isNew {
            self.watch(hub)
            self.tell { $0.add(settings, hub) }
        }
        return hub
    }

    /// Nobody publishes the source any more. Its publisher is sent away, and sees `refusal`; after ``renew(_:)`` its keys are
    /// those of nobody.
    package func remove(_ source: SourceID, _ refusal: PublishRefusal) {
        guard self.hubs.withLock({ $0.removeValue(forKey: source) }) != nil else { return }
        self.tell { $0.remove(source, refusal) }
    }

    /// From now on publishers are admitted by these keys, secrets and sources; those who publish go on.
    package func renew(_ admission: Admission) {
        self.tell { $0.admission.renew(from: admission) }
    }

    /// From now on questions to the publish webhook are signed with this secret; nothing happens where there is no webhook.
    package func replaceHookSecret(_ secret: String) {
        self.tell { $0.hook?.hook.secret = secret }
    }

    /// Closes the listener and every connection, and ends the thread.
    ///
    /// - Parameter isHandedOver: Another server listens from now on: publishers that can be asked to connect anew are.
    package func stop(isHandedOver: Bool = false) async {
        let (channels, datagrams, wasStopped) = self.running.withLock { running in
            defer { running.isStopped = true }
            return (running.channels, running.datagrams, running.isStopped)
        }
        if wasStopped { return }
        // Neither can fail in a way that leaves something to do: the process or the group goes on without them.
        for channel in channels { try? await channel.close().get() }
        let sources = self.hubs.withLock { Array($0.keys) }
        let asked = try? await self.loop.submit { [core, doors] in
            var asked = 0
            for source in sources {
                guard let publisher = core.value.publisher(of: source) else { continue }
                if !isHandedOver { publisher.refuse(.ended) } else if publisher.handOver() { asked += 1 }
            }
            for door in doors.value { door.stop() }
            return asked
        }.get()
        // They read it while their connections linger.
        if let asked, asked > 0 { try? await self.loop.scheduleTask(in: Self.handOverTime) {}.futureResult.get() }
        await self.joinFeeds()
        for channel in datagrams { try? await channel.close().get() }
        self.gate.close()
        try? await self.loop.submit { [core] in core.value.client }.get()?.shutdown()
        try? await self.group.shutdownGracefully()
    }

    /// Waits for the threads that read from SRT: they say good-bye through the loop, and report to it.
    private func joinFeeds() async {
        let feeds = (try? await self.loop.submit { [core] in core.value.feeds }.get()) ?? []
        await TransportFeed.join(feeds)
        // Their good-bye is on its way through the relays.
        if !feeds.isEmpty { try? await self.loop.scheduleTask(in: .milliseconds(50)) {}.futureResult.get() }
        // What they told the loop has its turn.
        try? await self.loop.submit { [doors] in doors.value = [] }.get()
    }

    /// - Parameter tls: nil: clear text.
    private func bootstrap(_ tls: NIOSSLContext?) -> ServerBootstrap {
        ServerBootstrap(group: self.group)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { [core] channel in
                channel.eventLoop.makeCompletedFuture {
                    let address = channel.remoteAddress?.ipAddress.flatMap { IPAddress($0) }
                    // In the order of the bytes: whose connection it is, then TLS, then RTMP.
                    if core.value.isProxy(address) {
                        try channel.pipeline.syncOperations.addHandler(ProxyHeaderHandler())
                    }
                    if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
                    let remote = channel.remoteAddress.map(IngestServer.text) ?? "unknown"
                    let handler = RTMPConnectionHandler(
                        core: core.value, remote: remote,
                        address: address,
                        port: channel.remoteAddress?.port ?? 0,
                        random: IngestServer.randomBytes())
                    try channel.pipeline.syncOperations.addHandler(handler)
                }
            }
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.socketOption(.so_keepalive), value: 1)
            .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: Self.usualRead))
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

    static func text(_ address: SocketAddress) -> String {
        let host = address.ipAddress ?? "?"
        return host.contains(":") ? "[\(host)]:\(address.port ?? 0)" : "\(host):\(address.port ?? 0)"
    }

    private func bindFailure(_ what: String, _ field: String) -> MediaError {
        MediaError(
            .bindFailed, what, at: "ingest", fix: "choose another `\(field)`, or port 0 for any free one")
    }
}
