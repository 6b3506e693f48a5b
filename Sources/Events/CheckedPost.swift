import Egress
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import PipelineSpec

/// Sends a POST request to a webhook that an API request has set. It uses a connection of its own, whose address is
/// checked against the room's egress policy.
///
/// Redirects are not followed.
enum CheckedPost {
    enum Failure: Error, Hashable, CustomStringConvertible {
        case url, timeout, closed
        case connect(String)
        case tls

        var description: String {
            switch self {
            case .url: "the URL is not of the form http[s]://HOST[:PORT][/PATH] without a user name"
            case .timeout: "no answer in time"
            case .closed: "the connection was closed before the answer"
            case .connect(let reason): reason
            case .tls: "the server does not use TLS, or its certificate is not trusted"
            }
        }
    }

    private static let connectTimeout = TimeAmount.seconds(3)

    /// Sends the request and waits for the head of the response.
    ///
    /// - Parameters:
    ///   - fields: All header fields except `Host`, `Content-Length` and `Connection`.
    ///   - timeout: Longest time until the head of the response, in nanoseconds; the connection is included.
    /// - Returns: The head of the response.
    /// - Throws: ``Failure``.
    static func send(
        to text: String, fields: HTTPHeaders, body: [UInt8], gate: EgressGate, timeout: Int64
    ) async throws -> HTTPResponseHead {
        guard let url = WebhookURL(text) else { throw Failure.url }
        var head = HTTPRequestHead(version: .http1_1, method: .POST, uri: url.path, headers: fields)
        head.headers.replaceOrAdd(name: "host", value: url.authority)
        head.headers.replaceOrAdd(name: "content-length", value: "\(body.count)")
        head.headers.replaceOrAdd(name: "connection", value: "close")
        let request = head
        let tls = try url.isSecure ? self.tls() : nil
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let answered = loop.makePromise(of: HTTPResponseHead.self)
        let connected = ClientBootstrap(group: loop)
            .connectTimeout(Self.connectTimeout)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(EgressHandler(gate, target: url.target))
                    if let tls {
                        let isName = IPAddress(url.target.host) == nil
                        try pipeline.addHandler(
                            try NIOSSLClientHandler(context: tls, serverHostname: isName ? url.target.host : nil))
                    }
                    try pipeline.addHTTPClientHandlers()
                    try pipeline.addHandler(JudgedPostHandler(request, body: body, answered))
                }
            }
            .connect(host: url.target.host, port: url.target.port)
        connected.whenFailure { answered.fail($0) }
        let deadline = loop.scheduleTask(in: .nanoseconds(timeout)) { answered.fail(Failure.timeout) }
        answered.futureResult.whenComplete { _ in
            deadline.cancel()
            connected.whenSuccess { $0.close(promise: nil) }
        }
        do {
            return try await withTaskCancellationHandler {
                try await answered.futureResult.get()
            } onCancel: {
                answered.fail(Failure.closed)
            }
        } catch {
            throw Self.failure(error)
        }
    }

    private static func tls() throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.shutdownTimeout = .seconds(1)
        return try NIOSSLContext(configuration: configuration)
    }

    private static func failure(_ error: any Error) -> Failure {
        switch error {
        case let failure as Failure: failure
        case is NIOSSLError, is NIOSSLExtraError: .tls
        default: .connect(ConnectionFailure.text(error) ?? "the connection was closed before the answer")
        }
    }
}

/// A channel handler that writes the request and waits for the head of the response.
private final class JudgedPostHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private let head: HTTPRequestHead
    private let body: [UInt8]
    private let answered: EventLoopPromise<HTTPResponseHead>

    init(_ head: HTTPRequestHead, body: [UInt8], _ answered: EventLoopPromise<HTTPResponseHead>) {
        (self.head, self.body, self.answered) = (head, body, answered)
    }

    func channelActive(context: ChannelHandlerContext) {
        context.write(self.wrapOutboundOut(.head(self.head)), promise: nil)
        let bytes = context.channel.allocator.buffer(bytes: self.body)
        context.write(self.wrapOutboundOut(.body(.byteBuffer(bytes))), promise: nil)
        context.writeAndFlush(self.wrapOutboundOut(.end(nil)), promise: nil)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // The rest of the response is ignored.
        if case .head(let head) = self.unwrapInboundIn(data) { self.answered.succeed(head) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.answered.fail(CheckedPost.Failure.closed)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.answered.fail(error)
        context.close(promise: nil)
    }
}
