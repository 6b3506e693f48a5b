import Glibc
import HummingbirdCore
import HummingbirdHTTP2
import Logging
import NIOCore
import NIOSSL
import TLSFiles

/// A connection as Hummingbird's server sets it up: HTTP/1.1, or TLS with HTTP/2 and HTTP/1.1 by ALPN (RFC 7301); with our
/// guard at its socket and our handler for its requests.
struct ListenerChannel: ServerChildChannel {
    struct Value: ServerChildChannelValue {
        fileprivate enum Kind: Sendable {
            case plain(HTTP1Channel.Value)
            case secure(HTTP2UpgradeChannel.Value)
        }

        fileprivate let kind: Kind
        let channel: any Channel
    }

    private enum Kind {
        case plain(HTTP1Channel)
        case secure(HTTP2UpgradeChannel)
    }

    private let kind: Kind
    private let limits: HTTPListenerLimits
    private let connections: OpenConnections

    /// - Parameter certificates: TLS with these; `nil`: none.
    init(_ service: RequestService, connections: OpenConnections, certificates: CertificateStore?) throws {
        self.limits = service.limits
        self.connections = connections
        // Idle connections and those that quiesce are the request handler's to close.
        let configuration = HTTP1Channel.Configuration(
            additionalChannelHandlers: [RequestHandler(service)], idleTimeout: nil,
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: self.limits.headerBytes, maxHeaderListSize: self.limits.headerBytes,
                maxHeaderFieldCount: 100))
        // Never called: the request handler hands nothing on.
        let nobody: HTTPChannelHandler.Responder = { _, _, _ in }
        guard let certificates else {
            self.kind = .plain(HTTP1Channel(responder: nobody, configuration: configuration))
            return
        }
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
            case .plain(let plain):
                return plain.setup(channel: channel, logger: logger).map { Value(kind: .plain($0), channel: channel) }
            case .secure(let secure):
                let value = secure.setup(channel: channel, logger: logger)
                let pipeline = channel.pipeline.syncOperations
                let security = try pipeline.handler(type: NIOSSLServerHandler.self)
                try pipeline.addHandler(HandshakeDeadlineHandler(self.limits.idle), position: .after(security))
                return value.map { Value(kind: .secure($0), channel: channel) }
            }
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
    }

    func handle(value: Value, logger: Logger) async {
        switch (self.kind, value.kind) {
        case (.plain(let plain), .plain(let value)): await plain.handle(value: value, logger: logger)
        case (.secure(let secure), .secure(let value)): await secure.handle(value: value, logger: logger)
        case (.plain, .secure), (.secure, .plain): break
        }
    }

    /// What waits to be sent is bounded: in this process by the watermarks, in the kernel by the limit of what it takes
    /// ahead of the network.
    private func prepare(_ channel: any Channel) throws {
        let options = channel.syncOptions
        let high = HTTPListenerLimits.highWatermark
        try options?.setOption(.writeBufferWaterMark, value: .init(low: high / 2, high: high))
        if channel.remoteAddress?.ipAddress != nil {
            // Since Linux 3.12; an option of its own, which NIO has no name for.
            try options?.setOption(
                .tcpOption(NIOBSDSocket.Option(rawValue: CInt(TCP_NOTSENT_LOWAT))),
                value: SocketOptionValue(HTTPListenerLimits.kernelBytes))
        }
        try channel.pipeline.syncOperations.addHandler(
            ConnectionGuard(limits: self.limits, connections: self.connections))
    }
}
