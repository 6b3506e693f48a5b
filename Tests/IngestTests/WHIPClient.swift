import HTTPProbe
import NIOCore
import NIOPosix
import Testing

/// A WHIP client over loopback sockets: POSTs an offer, connects, and sends media when told to.
final class WHIPClient: Sendable {
    enum Outcome: Sendable, Equatable {
        case connected
        /// close_notify of the server.
        case closed
        /// The end of the TCP connection.
        case disconnected
    }

    /// Passes datagrams between the socket and the peer.
    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = AddressedEnvelope<ByteBuffer>
        typealias OutboundOut = AddressedEnvelope<ByteBuffer>

        let peer: WebRTCPeer
        let server: SocketAddress
        let outcomes: Recorder<Outcome>
        private var context: ChannelHandlerContext?

        init(_ peer: WebRTCPeer, _ server: SocketAddress, _ outcomes: Recorder<Outcome>) {
            self.peer = peer
            self.server = server
            self.outcomes = outcomes
        }

        func handlerAdded(context: ChannelHandlerContext) { self.context = context }
        func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let (wasConnected, wasClosed) = (self.peer.isConnected, self.peer.isClosed)
            self.send(self.peer.receive(Array(self.unwrapInboundIn(data).data.readableBytesView)))
            if self.peer.isConnected, !wasConnected { self.outcomes.append(.connected) }
            if self.peer.isClosed, !wasClosed { self.outcomes.append(.closed) }
        }

        func send(_ datagrams: [[UInt8]]) {
            for datagram in datagrams {
                let envelope = AddressedEnvelope(remoteAddress: self.server, data: ByteBuffer(bytes: datagram))
                self.context?.writeAndFlush(self.wrapOutboundOut(envelope), promise: nil)
            }
        }
    }

    let outcomes: Recorder<Outcome>
    /// URL path of the session.
    let session: String
    let etag: String
    private let channel: any Channel
    private let handler: NIOLoopBound<Handler>

    private init(
        outcomes: Recorder<Outcome>, session: String, etag: String, channel: any Channel,
        handler: NIOLoopBound<Handler>
    ) {
        self.outcomes = outcomes
        self.session = session
        self.etag = etag
        self.channel = channel
        self.handler = handler
    }

    /// POSTs the offer of a new peer; the reply is not checked.
    static func post(
        _ url: String, key: String, video: String? = "H264/90000", audio: String? = "opus/48000/2"
    ) async throws -> HTTPProbe.Reply {
        try await Self.post(url, key: key, offer: WebRTCPeer().offer(video: video, audio: audio))
    }

    private static func post(_ url: String, key: String, offer: String) async throws -> HTTPProbe.Reply {
        let path = "/" + url.split(separator: "/").dropFirst(2).joined(separator: "/")
        return try await HTTPProbe(String(url.dropLast(path.utf8.count))).request(
            "POST \(path)", ["Authorization: Bearer \(key)", "Content-Type: application/sdp"], body: offer)
    }

    /// Makes a session. ``check()`` begins to connect.
    static func create(_ url: String, key: String) async throws -> WHIPClient {
        let offer = try WebRTCPeer().offer()
        let reply = try await Self.post(url, key: key, offer: offer)
        try #require(reply.status == 201, "\(reply.text)")
        let outcomes = Recorder<Outcome>()
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let handler = try await loop.submit {
            let peer = WebRTCPeer()
            try peer.accept(answer: reply.text)
            let server = try SocketAddress(ipAddress: "127.0.0.1", port: peer.port)
            return NIOLoopBound(Handler(peer, server, outcomes), eventLoop: loop)
        }.get()
        let channel = try await DatagramBootstrap(group: loop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(handler.value)
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return WHIPClient(
            outcomes: outcomes, session: reply.fields["location"] ?? "", etag: reply.fields["etag"] ?? "",
            channel: channel, handler: handler)
    }

    /// Makes a session and connects.
    static func connect(_ url: String, key: String) async throws -> WHIPClient {
        let client = try await Self.create(url, key: key)
        try await client.check()
        await client.outcomes.wait { $0.contains(.connected) }
        return client
    }

    private func run(_ body: @escaping @Sendable (WebRTCPeer) -> [[UInt8]]) async throws {
        try await self.channel.eventLoop.submit { [handler] in handler.value.send(body(handler.value.peer)) }.get()
    }

    func check() async throws { try await self.run { [$0.check()] } }

    /// Sends a check, and directly after it one for the session of another answer from the same address.
    func check(before answer: String) async throws {
        try await self.run { peer in
            let other = WebRTCPeer()
            guard (try? other.accept(answer: answer)) != nil else { return [] }
            return [peer.check(), other.check()]
        }
    }

    /// Sends one key frame and one audio packet.
    func sendMedia() async throws { try await self.run { $0.videoFrame(isKey: true) + [$0.audioPacket()] } }

    func close() async throws { try await self.run { $0.close() } }

    /// Closes the socket, as a program that was killed.
    func vanish() async throws { try await self.channel.close().get() }
}
