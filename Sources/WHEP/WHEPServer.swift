import Libc
package import Logging
package import MediaTypes
import NIOCore
import NIOPosix
import OpenSSLCrypto
package import PipelineSpec
import Synchronization
import Threading
import TLSFiles
package import WebRTC

/// Sends renditions to WebRTC viewers (WHEP): one UDP socket and one event loop for all of them. The viewers' HTTP requests
/// come from the playback listener.
package final class WHEPServer: Sendable {
    /// The current socket, and whether the server was stopped.
    private final class Running: Sendable {
        private let state = Mutex<(channel: (any Channel)?, isStopped: Bool)>((nil, false))

        var channel: (any Channel)? { self.state.withLock { $0.channel } }

        func setChannel(_ channel: any Channel) { self.state.withLock { $0.channel = channel } }

        /// - Returns: False if it was stopped before.
        func stop() -> Bool {
            self.state.withLock { state in
                defer { state.isStopped = true }
                return !state.isStopped
            }
        }
    }

    /// Nice value of the event loop's thread, as that of the playback listener: a flood of datagrams gets only the time that
    /// clock, mixer and encoders leave.
    private static let niceness: Int32 = 5
    /// Wait before a socket that was closed by an error is opened again.
    private static let reopenDelay = TimeAmount.milliseconds(100)
    /// Time between two copies of the statistics.
    private static let publishInterval = TimeAmount.milliseconds(500)
    /// Largest body of a request in bytes: that of an offer.
    package static let largestBody = 64 << 10
    /// The reply to a request whose body is larger than ``largestBody``.
    package static var tooLarge: WHIPReply { .error(.tooLarge("the body is larger than \(Self.largestBody) bytes")) }
    /// Fields of the replies that a page of another origin must be able to read.
    package static var exposedHeaders: String { WHEPRequests.exposedHeaders }

    /// `HOST:PORT` of the UDP socket.
    package let boundAddress: String
    private let group: MultiThreadedEventLoopGroup
    private let loop: any EventLoop
    private let listener: NIOLoopBound<WHEPListener>
    /// Access to the event loop; closed before the loop ends.
    private let gate: Gate
    private let running: Running
    private let latest = Mutex(WHEPStatistics())

    private init(
        boundAddress: String, group: MultiThreadedEventLoopGroup, listener: NIOLoopBound<WHEPListener>, gate: Gate,
        running: Running
    ) {
        self.boundAddress = boundAddress
        self.group = group
        self.loop = group.next()
        self.listener = listener
        self.gate = gate
        self.running = running
    }

    /// Opens the UDP socket and takes the feeds.
    ///
    /// - Parameters:
    ///   - feeds: All renditions that viewers may ask for, with different names.
    ///   - wallClock: Nanoseconds since 1970.
    /// - Throws: ``MediaError/Code/bindFailed``; ``MediaError/Code/rejected`` if there is no address that viewers could reach;
    ///   ``MediaError/Code/internal`` if OpenSSL fails.
    package static func start(
        _ settings: WHEPSettings, feeds: [WHEPFeed], clock: any MonotonicClock,
        wallClock: @escaping @Sendable () -> Int64, logger: Logger
    ) async throws(MediaError) -> WHEPServer {
        let identity = try DTLSIdentity()
        let place = "\(WHEPSettings.place).udp"
        guard let address = try? ListenAddress(parsing: settings.udp), case .tcp(let host, let port) = address else {
            throw MediaError(
                .bindFailed, "`\(settings.udp)` is not HOST:PORT", at: place,
                fix: "write HOST:PORT, such as 0.0.0.0:8189; port 0 means any free port")
        }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        do throws(MediaError) {
            let loop = group.next()
            loop.execute { _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, Self.niceness) }
            let (gate, running) = (Gate(), Running())
            let listener: NIOLoopBound<WHEPListener>
            let channel: any Channel
            do {
                listener = try await loop.submit {
                    NIOLoopBound(
                        WHEPListener(
                            settings: settings, identity: identity, feeds: feeds, clock: clock, wallClock: wallClock(),
                            logger: logger, loop: loop), eventLoop: loop)
                }.get()
                channel = try await Self.bind(host, Int(port), listener, on: loop).get()
            } catch {
                throw MediaError.bindFailed(address, error, at: place)
            }
            running.setChannel(channel)
            let candidates: [AnswerSettings.Candidate]
            do throws(MediaError) { candidates = try settings.candidates(bound: channel.localAddress) } catch {
                try? await channel.close().get()
                throw error
            }
            let bound = channel.localAddress
            let server = WHEPServer(
                boundAddress: bound.map(Self.text) ?? settings.udp, group: group, listener: listener, gate: gate,
                running: running)
            loop.execute {
                listener.value.candidates = candidates
                listener.value.reopen = { [weak running] listener in
                    Self.reopen(listener, host, bound?.port ?? Int(port), running)
                }
                listener.value.ticker = loop.scheduleRepeatedTask(initialDelay: .zero, delay: Self.publishInterval) {
                    [weak server] _ in server?.publish()
                }
                for rendition in listener.value.renditions {
                    let box = NIOLoopBound(rendition, eventLoop: loop)
                    rendition.feed.attach { gate.pass { loop.execute { listener.value.handOut(box.value) } } }
                }
            }
            logger.info(
                "WebRTC viewers can connect",
                metadata: ["udp": "\(server.boundAddress)", "rendition": "\(settings.rendition)"])
            return server
        } catch {
            try? await group.shutdownGracefully()
            throw error
        }
    }

    private static func bind(
        _ host: String, _ port: Int, _ listener: NIOLoopBound<WHEPListener>, on loop: any EventLoop
    ) -> EventLoopFuture<any Channel> {
        DatagramBootstrap(group: loop)
            .channelOption(.socketOption(.so_rcvbuf), value: 1 << 20)
            .channelOption(.socketOption(.so_sndbuf), value: 4 << 20)
            .channelOption(.datagramVectorReadMessageCount, value: 16)
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 16 * 2048))
            // What waits for the kernel beyond this is dropped, as on the network.
            .channelOption(.writeBufferWaterMark, value: .init(low: 4 << 20, high: 8 << 20))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(listener.value)
                }
            }
            .bind(host: host, port: port)
    }

    /// Opens the socket again, on the same port. Viewers stay: they notice a short loss.
    private static func reopen(_ listener: WHEPListener, _ host: String, _ port: Int, _ running: Running?) {
        let (loop, box) = (listener.loop, NIOLoopBound(listener, eventLoop: listener.loop))
        loop.scheduleTask(in: Self.reopenDelay) { [weak running] in
            guard !box.value.isStopped, let running else { return }
            Self.bind(host, port, box, on: loop).whenComplete { [weak running] result in
                switch result {
                case .success(let channel): running?.setChannel(channel)
                case .failure: Self.reopen(box.value, host, port, running)
                }
            }
        }
    }

    private static func text(_ address: SocketAddress) -> String {
        let host = address.ipAddress ?? "?"
        return host.contains(":") ? "[\(host)]:\(address.port ?? 0)" : "\(host):\(address.port ?? 0)"
    }

    // MARK: Requests

    /// Whether a path is a matter of this server: `/whep` and what is below it. The path is percent-encoded, without query.
    package static func isPath(_ path: some StringProtocol) -> Bool { WHEPRoute(path: path) != .other }

    /// Whether a path names a rendition, not a session: there a POST begins to watch, and needs the right to do so.
    package static func isEndpoint(_ path: some StringProtocol) -> Bool {
        if case .endpoint = WHEPRoute(path: path) { true } else { false }
    }

    /// Answers a request, by calling `answer` once: on the event loop, or at once after the end.
    ///
    /// - Parameter client: Address of the client, for the rate limit; nil if unknown.
    package func respond(
        to request: WHIPRequest, client: IPAddress?, _ answer: @escaping @Sendable (WHIPReply) -> Void
    ) {
        let isThere = self.gate.pass {
            self.loop.execute { [listener] in answer(listener.value.respond(to: request, client: client)) }
        }
        if !isThere { answer(.error(.roomEnded)) }
    }

    /// The measurements, at most half a second old; after the end, the last ones.
    package var statistics: WHEPStatistics { self.latest.withLock { $0 } }

    private func publish() {
        let statistics = self.listener.value.statistics()
        self.latest.withLock { $0 = statistics }
    }

    // MARK: The end

    /// Disconnects all viewers and closes the socket. May be called twice.
    package func stop() async {
        guard self.running.stop() else { return }
        let statistics = try? await self.loop.submit { [listener] in
            listener.value.stop()
            return listener.value.statistics()
        }.get()
        if let statistics { self.latest.withLock { $0 = statistics } }
        if let channel = self.running.channel { try? await channel.close().get() }
        self.gate.close()
        try? await self.group.shutdownGracefully()
    }
}
