import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// Converts the requests of an HTTP/1.1 connection to the types used for HTTP/2, so that one handler serves both.
///
/// Stateless: all connections share one instance.
final class HTTP1RequestReader: ChannelInboundHandler, Sendable {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPRequestPart

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch self.unwrapInboundIn(data) {
        case .head(let head):
            // RFC 9112 §3.2: exactly one Host field in HTTP/1.1, at most one in HTTP/1.0.
            let hosts = head.headers["host"].count
            guard hosts == 1 || hosts == 0 && head.version == .http1_0 else {
                return context.fireErrorCaught(HTTPParserError.invalidHeaderToken)
            }
            guard let request = Self.request(head) else {
                return context.fireErrorCaught(HTTPParserError.invalidMethod)
            }
            context.fireChannelRead(self.wrapInboundOut(.head(request)))
        case .body(let bytes): context.fireChannelRead(self.wrapInboundOut(.body(bytes)))
        case .end: context.fireChannelRead(self.wrapInboundOut(.end(nil)))
        }
    }

    /// Converts a request head, with the target as received; ``RequestTarget`` handles the absolute form.
    private static func request(_ head: HTTPRequestHead) -> HTTPRequest? {
        guard let method = Self.method(head.method) else { return nil }
        var fields = HTTPFields()
        fields.reserveCapacity(head.headers.count)
        var authority: String?
        for (name, value) in head.headers {
            guard let name = HTTPField.Name(name) else { continue }
            if authority == nil, name == Self.host {
                authority = value
            } else {
                fields.append(HTTPField(name: name, value: value))
            }
        }
        // An HTTP/1.0 connection closes after the reply unless the client asks for keep-alive (RFC 9112 §9.3), and
        // cannot be upgraded (RFC 9110 §7.8).
        let isOld = head.version.minor == 0 && fields[.upgrade] != nil
        if isOld || !head.isKeepAlive { fields[.connection] = "close" }
        return HTTPRequest(method: method, scheme: "http", authority: authority, path: head.uri, headerFields: fields)
    }

    private static let host = HTTPField.Name("host")

    private static func method(_ method: HTTPMethod) -> HTTPRequest.Method? {
        switch method {
        case .GET: .get
        case .HEAD: .head
        default: HTTPRequest.Method(method.rawValue)
        }
    }
}
