package import PublishAuth
package import Logging
package import MediaTypes
import NIOCore
import NIOPosix
import HTTPListener
import NIOSSL
import OpenSSLCrypto
import PipelineSpec
package import RTMP
import Threading
import Synchronization
import WebRTC

/// The ingest server of a room: RTMP, RTMPS, SRT and WHIP listeners for many publishers, each bound to its source by its
/// stream key.
///
/// The media of RTMP and WebRTC publishers is received on one event-loop thread of its own. The HTTP requests of WHIP have another
/// thread, and each SRT publisher is read on a thread of its own. Life cycle: ``start()`` once, then ``stop()`` once.
package final class IngestServer: Sendable {
    private struct Running {
        var channels: [any Channel] = []
        /// UDP channels; they close last, because refused SRT publishers are answered through them.
        var datagrams: [any Channel] = []
        /// The UDP socket of WebRTC publishers.
        var socket: DatagramSocket?
        /// The HTTP listener of WebRTC publishers.
        var http: HTTPListener?
        var isStopped = false
    }

    private let configuration: IngestConfiguration
    private let emit: @Sendable (IngestEvent) -> Void
    private let logger: Logger
    private let hubs: Mutex<[SourceID: SourceHub]>
    private let group: MultiThreadedEventLoopGroup
    private let loop: any EventLoop
    private let core: NIOLoopBoundBox<IngestCore>
    private let srtListeners: NIOLoopBoundBox<[SRTListener]>
    private let webRTCListeners: NIOLoopBoundBox<[WebRTCListener]>
    /// Gives access to the event loop to callers that may outlive the server; it is closed before the loop ends.
    private let gate = Gate()
    private let running = Mutex(Running())

    /// Creates the server of a room's sources; call ``start()`` to open the listeners.
    ///
    /// - Parameters:
    ///   - clock: Stamps the arrival of packets; deadlines use it too.
    ///   - events: Called on the event loop, on the threads of SRT publishers, and by ``start()``; must not block.
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
        self.srtListeners = NIOLoopBoundBox.makeBoxSendingValue([], eventLoop: self.loop)
        self.webRTCListeners = NIOLoopBoundBox.makeBoxSendingValue([], eventLoop: self.loop)
        for hub in hubs.values { self.watch(hub) }
    }

    private func watch(_ hub: SourceHub) {
        let source = hub.source
        hub.onFullChange { [weak self] isFull in
            self?.tell { $0.publisher(of: source)?.setPaused(isFull) }
        }
        hub.onKeyFrameRequest { [weak self] in self?.tell { $0.publisher(of: source)?.requestKeyFrame() } }
    }

    /// Runs `work` on the event loop soon; does nothing if the server has stopped.
    private func tell(_ work: @escaping @Sendable (IngestCore) -> Void) {
        self.gate.pass { self.loop.execute { [core] in work(core.value) } }
    }

    /// Runs `work` on the event loop and waits for it, for publishers that do not connect through the server's sockets.
    /// Must not be called from an event loop or after the server has stopped.
    package func perform<Result: Sendable>(
        _ work: @escaping @Sendable (IngestCore) throws -> Result
    ) throws -> Result {
        try self.loop.submit { [core] in try work(core.value) }.wait()
    }

    /// Time that publishers get to read the request to reconnect before the server closes their connections.
    private static let handOverTime = TimeAmount.milliseconds(500)

    /// Bytes per read of an RTMP connection before it publishes: more than the handshake and `connect` together.
    private static let usualRead = 16 << 10

    /// The hub that delivers `source`; nil if the source is unknown.
    package func hub(for source: SourceID) -> SourceHub? { self.hubs.withLock { $0[source] } }

    /// Statistics of every source.
    package var statistics: [SourceID: SourceStatistics] { self.hubs.withLock { $0 }.mapValues(\.statistics) }

    /// Opens the configured listeners and starts to accept publishers.
    ///
    /// - Returns: The bound addresses, `HOST:PORT`, and the URL of the WHIP endpoint; they are also reported as events.
    /// - Throws: ``MediaError/Code/bindFailed``; ``MediaError/Code/rejected`` for a certificate or public addresses that
    ///   cannot be used; ``MediaError/Code/internal`` if OpenSSL fails.
    @discardableResult
    package func start() async throws(MediaError) -> (plain: String?, secure: String?, srt: String?, whip: String?) {
        var bound: (plain: String?, secure: String?, srt: String?, whip: String?) = (nil, nil, nil, nil)
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
                    .rejected, "cannot set up TLS with the certificate: \(error)", at: "ingest",
                    fix: "check the certificate and the key with `openssl`")
            }
            let address = try await self.bind(secure.listen, "ingest.rtmps.listen", tls: context)
            self.tell { $0.secureAddress = address }
            self.logger.info("listening for RTMPS", metadata: ["address": "\(address)"])
            self.emit(.listeningSecurely(address: address))
            bound.secure = address
        }
        if let srt = self.configuration.srt { bound.srt = try await self.bindSRT(srt) }
        if let webRTC = self.configuration.webRTC { bound.whip = try await self.bindWebRTC(webRTC) }
        return bound
    }

    private func bindSRT(_ settings: SRTSettings) async throws(MediaError) -> String {
        let (listen, host, port) = try Self.address(settings.listen, "ingest.srt.listen")
        let channel: any Channel
        do {
            channel = try await DatagramSocket.bootstrap(on: self.loop) { [core, loop, srtListeners] in
                let listener = SRTListener(core: core.value, settings: settings, loop: loop)
                srtListeners.value.append(listener)
                return listener
            }.bind(host: host, port: Int(port)).get()
        } catch {
            throw .bindFailed(listen, error, at: "ingest.srt.listen")
        }
        let address = channel.localAddress.map(IngestServer.text) ?? settings.listen
        self.tell { $0.srtAddress = address }
        self.logger.info("listening for SRT", metadata: ["address": "\(address)"])
        self.emit(.listeningForSRT(address: address))
        self.running.withLock { $0.datagrams.append(channel) }
        return address
    }

    /// Opens the UDP socket of WebRTC publishers, then their HTTP listener, which has its own event loop.
    private func bindWebRTC(_ settings: WebRTCSettings) async throws(MediaError) -> String {
        let identity = try DTLSIdentity()
        let (listen, host, port) = try Self.address(settings.udp, "ingest.webrtc.udp")
        let socket: DatagramSocket
        do {
            let listener = try await self.loop.submit { [core, loop, webRTCListeners] in
                let listener = WebRTCListener(core: core.value, settings: settings, identity: identity, loop: loop)
                webRTCListeners.value.append(listener)
                return NIOLoopBound(listener, eventLoop: loop)
            }.get()
            socket = try await DatagramSocket.open(port: Int(port), on: self.loop) { [loop] port in
                DatagramSocket.bootstrap(on: loop) { listener.value }.bind(host: host, port: port)
            }.get()
        } catch {
            throw .bindFailed(listen, error, at: "ingest.webrtc.udp")
        }
        self.running.withLock { $0.socket = socket }
        // Checked before anything else is opened.
        let candidates = try settings.candidates(bound: socket.localAddress, hasTCP: false)
        let http = try await self.bindWHIP(settings)
        let isStopped = self.running.withLock { running in
            running.http = http
            return running.isStopped
        }
        if isStopped { await http.stop(within: .zero) }
        let url = "\(http.boundAddress)/whip/\(self.configuration.admission.app)"
        let authority = String(http.boundAddress.split(separator: "/").last ?? "")
        self.tell { [webRTCListeners, isSecure = settings.certificates != nil] _ in
            for listener in webRTCListeners.value {
                listener.opened(candidates, address: authority, isSecure: isSecure)
            }
        }
        self.logger.info(
            "listening for WHIP",
            metadata: ["url": "\(url)", "udp": "\(socket.localAddress.map(Self.text) ?? settings.udp)"])
        self.emit(.listeningForWHIP(url: url))
        return url
    }

    private func bindWHIP(_ settings: WebRTCSettings) async throws(MediaError) -> HTTPListener {
        let (address, _, _) = try Self.address(settings.listen, "ingest.webrtc.listen")
        let limits = HTTPListenerLimits(
            connections: 2 * self.configuration.maximumConnections, bodyBytes: WebRTCListener.largestBody,
            connectionsPerAddress: 64, crowd: self.configuration.maximumConnections)
        return try await HTTPListener.start(
            listen: address, limits: limits, certificates: settings.certificates,
            proxies: WHIPProxies.listener(self.configuration.proxies), group: nil, place: "ingest.webrtc.listen",
            logger: self.logger
        ) { [gate, loop, webRTCListeners] request, answer in
            // TLS and requests have a thread of their own, so that they cannot delay the media of publishers.
            gate.pass {
                loop.execute {
                    guard let listener = webRTCListeners.value.first else {
                        return answer(ListenerReply(.serviceUnavailable))
                    }
                    listener.receive(request, answer)
                }
            }
        }
    }

    /// Opens a TCP socket on the port of the UDP socket of WebRTC publishers. Called once all other listeners of the room are
    /// open, since one of them may have this port: publishers then have UDP only.
    package func openStreams() async {
        guard let settings = self.configuration.webRTC, let socket = self.running.withLock({ $0.socket }),
            let (_, host, number) = try? Self.address(settings.udp, "ingest.webrtc.udp")
        else { return }
        let port = socket.localAddress?.port ?? Int(number)
        do {
            let channel = try await PeerStreamSocket.bootstrap(on: self.group, high: WebRTCListener.mostWaiting) {
                [webRTCListeners] in webRTCListeners.value.first?.stream(from: $0)
            }
            .bind(host: host, port: port).get()
            let isStopped = self.running.withLock { running in
                running.channels.append(channel)
                return running.isStopped
            }
            if isStopped { return channel.close(promise: nil) }
        } catch {
            return self.logger.warning(
                "WebRTC publishers cannot connect by TCP", metadata: ["port": "\(port)", "reason": "\(error)"])
        }
        guard let candidates = try? settings.candidates(bound: socket.localAddress, hasTCP: true) else { return }
        self.tell { [webRTCListeners] _ in for listener in webRTCListeners.value { listener.candidates = candidates } }
    }

    private func bind(_ listen: String, _ field: String, tls: NIOSSLContext?) async throws(MediaError) -> String {
        let (address, host, port) = try Self.address(listen, field)
        let channel: any Channel
        do {
            channel = try await self.bootstrap(tls).bind(host: host, port: Int(port)).get()
        } catch {
            throw .bindFailed(address, error, at: field)
        }
        let isStopped = self.running.withLock { running in
            running.channels.append(channel)
            return running.isStopped
        }
        if isStopped { channel.close(promise: nil) }
        return channel.localAddress.map(IngestServer.text) ?? listen
    }

    /// Disconnects the publisher of `source`; it gets `refusal` as the reason.
    package func disconnect(_ source: SourceID, _ refusal: PublishRefusal) {
        self.tell { $0.publisher(of: source)?.refuse(refusal) }
    }

    /// Disconnects the publisher of `source`, if any, and refuses all publishers until `deadline`, in nanoseconds of
    /// the server's clock. A `deadline` in the past lifts an earlier refusal.
    package func kick(_ source: SourceID, until deadline: Int64) {
        self.tell { $0.kick(source, .kicked, until: deadline) }
    }

    /// Replaces the stream keys and the secrets of signed keys. Current publishers continue.
    package func replaceKeys(_ bindings: [IngestBinding], secrets: [String]) {
        self.tell { core in
            core.admission.bindings = bindings
            core.admission.signed?.secrets = secrets
        }
    }

    /// Adds a source; publishers are accepted as soon as ``renew(_:)`` names it.
    ///
    /// - Returns: The hub that delivers the source; the existing one if the source is already known.
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

    /// Removes a source and disconnects its publisher with `refusal`. Call ``renew(_:)`` to remove its keys as well.
    package func remove(_ source: SourceID, _ refusal: PublishRefusal) {
        guard self.hubs.withLock({ $0.removeValue(forKey: source) }) != nil else { return }
        self.tell { $0.remove(source, refusal) }
    }

    /// Replaces the keys, secrets and sources that publishers are admitted by. Current publishers continue.
    package func renew(_ admission: Admission) {
        self.tell { $0.admission.renew(from: admission) }
    }

    /// Replaces the secret that signs webhook requests; does nothing if there is no webhook.
    package func replaceHookSecret(_ secret: String) {
        self.tell { $0.hook?.hook.secret = secret }
    }

    /// Closes the listeners and every connection, and ends the threads.
    ///
    /// - Parameter isHandedOver: True if another server takes over; then publishers that support the reconnect request
    ///   are asked to reconnect.
    package func stop(isHandedOver: Bool = false) async {
        let (channels, datagrams, socket, http, wasStopped) = self.running.withLock { running in
            defer { running.isStopped = true }
            return (running.channels, running.datagrams, running.socket, running.http, running.isStopped)
        }
        if wasStopped { return }
        // An error leaves nothing to do here or below: the process or the event loop ends without these channels.
        for channel in channels { try? await channel.close().get() }
        let sources = self.hubs.withLock { Array($0.keys) }
        let asked = try? await self.loop.submit { [core, srtListeners, webRTCListeners] in
            var asked = 0
            for source in sources {
                guard let publisher = core.value.publisher(of: source) else { continue }
                if !isHandedOver { publisher.refuse(.ended) } else if publisher.handOver() { asked += 1 }
            }
            let refusal: PublishRefusal = isHandedOver ? .handedOver : .ended
            for listener in srtListeners.value { listener.stop(refusal) }
            for listener in webRTCListeners.value { listener.stop(refusal) }
            return asked
        }.get()
        // Publishers read the request while their connections linger.
        if let asked, asked > 0 { try? await self.loop.scheduleTask(in: Self.handOverTime) {}.futureResult.get() }
        await self.joinFeeds()
        await http?.stop(within: .milliseconds(500))
        for channel in datagrams { try? await channel.close().get() }
        await socket?.close()
        try? await self.loop.submit { [webRTCListeners] in webRTCListeners.value = [] }.get()
        self.gate.close()
        try? await self.loop.submit { [core] in core.value.client }.get()?.shutdown()
        try? await self.group.shutdownGracefully()
    }

    /// Waits for the threads that read from SRT. They use the event loop to close their connections and to report.
    private func joinFeeds() async {
        let feeds = (try? await self.loop.submit { [core] in core.value.feeds }.get()) ?? []
        await MPEGTSFeed.join(feeds)
        // The SRT shutdown packets still pass through the loopback channels.
        if !feeds.isEmpty { try? await self.loop.scheduleTask(in: .milliseconds(50)) {}.futureResult.get() }
        // Runs after the tasks that the threads queued on the loop.
        try? await self.loop.submit { [srtListeners] in srtListeners.value = [] }.get()
    }

    /// Returns the bootstrap of an RTMP listener.
    ///
    /// - Parameter tls: TLS settings; nil: unencrypted RTMP.
    private func bootstrap(_ tls: NIOSSLContext?) -> ServerBootstrap {
        ServerBootstrap(group: self.group)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { [core] channel in
                channel.eventLoop.makeCompletedFuture {
                    let address = channel.remoteAddress?.ipAddress.flatMap { IPAddress($0) }
                    // Handlers in the order of the bytes: PROXY header, then TLS, then RTMP.
                    if core.value.isProxy(address) {
                        try channel.pipeline.syncOperations.addHandler(ProxyHeaderHandler())
                    }
                    if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
                    let remote = channel.remoteAddress.map(IngestServer.text) ?? "unknown"
                    let handler = RTMPConnectionHandler(
                        core: core.value, remote: remote,
                        address: address,
                        port: channel.remoteAddress?.port ?? 0, isSecure: tls != nil,
                        random: IngestServer.randomBytes())
                    try channel.pipeline.syncOperations.addHandler(handler)
                }
            }
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.socketOption(.so_keepalive), value: 1)
            .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: Self.usualRead))
            .childChannelOption(.maxMessagesPerRead, value: 4)
    }

    /// Random bytes for the S1 packet of the RTMP handshake.
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

    private static func address(
        _ text: String, _ field: String
    ) throws(MediaError) -> (address: ListenAddress, host: String, port: UInt16) {
        guard let address = try? ListenAddress(parsing: text), case .tcp(let host, let port) = address else {
            throw MediaError(
                .bindFailed, "`\(text)` is not HOST:PORT", at: field,
                fix: "write HOST:PORT, such as 0.0.0.0:1935; port 0 means any free port")
        }
        return (address, host, port)
    }
}
