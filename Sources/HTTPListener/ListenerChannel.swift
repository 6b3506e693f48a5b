import Libc
import HummingbirdCore
import HummingbirdHTTP2
import Logging
import NIOCore
import NIOHTTP1
import NIOSSL
import TLSFiles

/// Sets up a connection of Hummingbird's server. A connection without TLS speaks HTTP/1.1 with handlers of this module.
/// With TLS, Hummingbird negotiates HTTP/2 or HTTP/1.1 by ALPN (RFC 7301). Both kinds use ``ConnectionGuard`` at the
/// socket and ``RequestHandler``.
struct ListenerChannel: ServerChildChannel {
    struct Value: ServerChildChannelValue {
        fileprivate enum Kind: Sendable {
            case plain
            case secure(HTTP2UpgradeChannel.Value)
        }

        fileprivate let kind: Kind
        let channel: any Channel
    }

    private enum Kind {
        case plain
        case secure(HTTP2UpgradeChannel)
    }

    private let kind: Kind
    private let service: RequestService
    private let limits: HTTPListenerLimits
    private let connections: OpenConnections
    private let reader = HTTP1RequestReader()

    /// Maximum number of header fields of a request.
    private static let mostFields = 100

    /// Creates the setup for the connections of one listener.
    ///
    /// - Parameter certificates: Certificate for TLS; `nil`: no TLS.
    init(_ service: RequestService, connections: OpenConnections, certificates: CertificateStore?) throws {
        self.service = service
        self.limits = service.limits
        self.connections = connections
        guard let certificates else {
            self.kind = .plain
            return
        }
        // The request handler closes idle connections and connections that quiesce.
        let configuration = HTTP1Channel.Configuration(
            additionalChannelHandlers: [RequestHandler(service, writer: .parts)], idleTimeout: nil,
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: self.limits.headerBytes, maxHeaderListSize: self.limits.headerBytes,
                maxHeaderFieldCount: Self.mostFields))
        // Never called: the request handler passes nothing on.
        let nobody: HTTPChannelHandler.Responder = { _, _, _ in }
        let idle = Duration.nanoseconds(self.limits.idle.nanoseconds)
        self.kind = .secure(
            try HTTP2UpgradeChannel(
                tlsConfiguration: certificates.serverConfiguration(),
                configuration: .init(
                    idleTimeout: idle, gracefulCloseTimeout: .seconds(5), streamConfiguration: configuration),
                responder: nobody))
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        do {
            try self.prepare(channel)
            switch self.kind {
            case .plain:
                try self.preparePlain(channel)
                return channel.eventLoop.makeSucceededFuture(Value(kind: .plain, channel: channel))
            case .secure(let secure):
                let value = secure.setup(channel: channel, logger: logger)
                let pipeline = channel.pipeline.syncOperations
                let security = try pipeline.handler(type: NIOSSLServerHandler.self)
                try pipeline.addHandlers(
                    HandshakeDeadlineHandler(self.limits.idle), MethodReader(), position: .after(security))
                return value.map { Value(kind: .secure($0), channel: channel) }
            }
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
    }

    func handle(value: Value, logger: Logger) async {
        // A plain connection is driven by its handlers alone: a waiting task would use more memory than all of them.
        guard case (.secure(let secure), .secure(let value)) = (self.kind, value.kind) else { return }
        await secure.handle(value: value, logger: logger)
    }

    /// Sets up a connection without TLS: NIO's HTTP/1.1 parser, no encoder, and no buffer larger than a request.
    private func preparePlain(_ channel: any Channel) throws {
        var decoding = NIOHTTPDecoderLimitConfiguration()
        decoding.maxHeaderFieldSize = self.limits.headerBytes
        decoding.maxHeaderListSize = self.limits.headerBytes
        decoding.maxHeaderFieldCount = Self.mostFields
        try channel.syncOptions?.setOption(
            .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 512, initial: 1_024, maximum: 16 << 10))
        try channel.pipeline.syncOperations.addHandlers(
            MethodReader(),
            ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes, limitConfiguration: decoding)),
            self.reader, RequestHandler(self.service, writer: .bytes))
    }

    /// Limits the unsent bytes of a connection: in this process by NIO's watermarks, in the kernel by
    /// `TCP_NOTSENT_LOWAT`.
    private func prepare(_ channel: any Channel) throws {
        let options = channel.syncOptions
        let high = HTTPListenerLimits.highWatermark
        try options?.setOption(.writeBufferWaterMark, value: .init(low: high / 2, high: high))
        if channel.remoteAddress?.ipAddress != nil {
            // Available since Linux 3.12; NIO has no name for this option.
            try options?.setOption(
                .tcpOption(NIOBSDSocket.Option(rawValue: CInt(TCP_NOTSENT_LOWAT))),
                value: SocketOptionValue(HTTPListenerLimits.kernelBytes))
        }
        let proxies = self.service.proxies
        let isProxy = channel.remoteAddress.map { proxies?.contains($0) ?? false } ?? false
        try channel.pipeline.syncOperations.addHandler(
            ConnectionGuard(
                limits: self.limits, connections: self.connections, counters: self.service.counters,
                isShared: isProxy))
        if isProxy, let proxies { try channel.pipeline.syncOperations.addHandler(ProxiedClientHandler(proxies)) }
    }
}
