import HTTPListener
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

/// Sends renditions to WebRTC viewers (WHEP): one UDP socket, a TCP socket on the same port, and one event loop for all of
/// them. The viewers' HTTP requests come from the playback listener.
package final class WHEPServer: Sendable {
    /// Nice value of the event loop's thread, as that of the playback listener: a flood of datagrams gets only the time that
    /// clock, mixer and encoders leave.
    private static let niceness: Int32 = 5
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
    private let socket: DatagramSocket
    /// Host of the sockets, as in the settings.
    private let host: String
    private let logger: Logger
    /// The TCP socket; nil before ``openStreams()``, and if its port is in use.
    private let streams = Mutex<(any Channel)?>(nil)
    private let isStopped = Mutex(false)
    private let latest = Mutex(WHEPStatistics())

    private init(
        socket: DatagramSocket, host: String, boundAddress: String, group: MultiThreadedEventLoopGroup,
        listener: NIOLoopBound<WHEPListener>, gate: Gate, logger: Logger
    ) {
        self.socket = socket
        self.host = host
        self.logger = logger
        self.boundAddress = boundAddress
        self.group = group
        self.loop = group.next()
        self.listener = listener
        self.gate = gate
    }

    /// Opens the UDP socket and takes the feeds.
    ///
    /// - Parameters:
    ///   - feeds: All renditions that viewers may ask for, with different names.
    ///   - wallClock: Nanoseconds since 1970.
    /// - Throws: ``MediaError/Code/bindFailed``; ``MediaError/Code/rejected`` if there is no address that viewers could reach, or
    ///   an entry is not an IP address; ``MediaError/Code/internal`` if OpenSSL fails.
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
            let gate = Gate()
            let listener: NIOLoopBound<WHEPListener>
            let socket: DatagramSocket
            do {
                listener = try await loop.submit {
                    NIOLoopBound(
                        WHEPListener(
                            settings: settings, identity: identity, feeds: feeds, clock: clock, wallClock: wallClock(),
                            logger: logger, loop: loop), eventLoop: loop)
                }.get()
                socket = try await DatagramSocket.open(port: Int(port), on: loop) { [listener] port in
                    DatagramSocket.bootstrap(on: loop) { listener.value }
                        .channelOption(.socketOption(.so_sndbuf), value: 4 << 20)
                        // What waits for the kernel beyond this is dropped, as on the network.
                        .channelOption(.writeBufferWaterMark, value: .init(low: 4 << 20, high: 8 << 20))
                        .bind(host: host, port: port)
                }.get()
            } catch {
                throw MediaError.bindFailed(address, error, at: place)
            }
            let candidates: [AnswerSettings.Candidate]
            do throws(MediaError) {
                candidates = try settings.candidates(bound: socket.localAddress, hasTCP: false)
            } catch {
                await socket.close()
                throw error
            }
            let server = WHEPServer(
                socket: socket, host: host, boundAddress: socket.localAddress.map(Self.text) ?? settings.udp,
                group: group,
                listener: listener, gate: gate, logger: logger)
            loop.execute {
                listener.value.candidates = candidates
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

    /// Opens a TCP socket on the port of the UDP socket, for viewers whose network blocks UDP. Called once all other listeners of
    /// the room are open, since one of them may have this port: viewers then have UDP only.
    package func openStreams() async {
        let port = self.socket.localAddress?.port ?? 0
        do {
            let channel = try await PeerStreamSocket.bootstrap(
                on: self.loop, high: WHEPListener.mostWaiting, sendBuffer: WHEPListener.sendBuffer
            ) { [listener] in listener.value.stream(from: $0) }
            .bind(host: self.host, port: port).get()
            self.streams.withLock { $0 = channel }
            if self.isStopped.withLock({ $0 }) { return channel.close(promise: nil) }
        } catch {
            return self.logger.warning(
                "WebRTC viewers cannot connect by TCP", metadata: ["port": "\(port)", "reason": "\(error)"])
        }
        self.gate.pass {
            self.loop.execute { [listener, address = self.socket.localAddress] in
                let candidates = try? listener.value.settings.candidates(bound: address, hasTCP: true)
                if let candidates { listener.value.candidates = candidates }
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
        self.listener.value.sweepStreams()
        let statistics = self.listener.value.statistics()
        self.latest.withLock { $0 = statistics }
    }

    // MARK: The end

    /// Disconnects all viewers and closes the sockets. May be called twice.
    package func stop() async {
        let wasStopped = self.isStopped.withLock { isStopped in
            defer { isStopped = true }
            return isStopped
        }
        if wasStopped { return }
        let statistics = try? await self.loop.submit { [listener] in
            listener.value.stop()
            return listener.value.statistics()
        }.get()
        if let statistics { self.latest.withLock { $0 = statistics } }
        let streams = self.streams.withLock { $0 }
        try? await streams?.close().get()
        await self.socket.close()
        self.gate.close()
        try? await self.group.shutdownGracefully()
    }
}
