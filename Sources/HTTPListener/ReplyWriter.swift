import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// How replies are written: as the parts that the encoder of an HTTP/2 stream or a TLS connection takes, or as the bytes of
/// HTTP/1.1 themselves, whose heads and bodies many connections then share; what follows the head of a WebSocket, as its
/// frames.
enum ReplyWriter {
    case parts
    case bytes
    /// Has no heads.
    case frames(WebSocketHandler)

    private static let carryOn = ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n")

    /// Spec: RFC 9110 §10.1.1.
    func carryOn(_ context: ChannelHandlerContext) {
        switch self {
        case .parts: context.write(NIOAny(HTTPResponsePart.head(HTTPResponse(status: .continue))), promise: nil)
        case .bytes: context.write(NIOAny(Self.carryOn), promise: nil)
        case .frames: return
        }
        context.flush()
    }

    /// Writes status and fields, and adds length and date.
    ///
    /// - Parameter closes: The connection closes after this reply.
    func head(_ reply: ListenerReply, closes: Bool, date: DateField, _ context: ChannelHandlerContext) {
        switch self {
        case .parts:
            var head = HTTPResponse(status: reply.status, headerFields: reply.fields)
            if reply.status.mayHaveBody, reply.hasLength {
                head.headerFields[.contentLength] = String(reply.body.count)
            }
            head.headerFields[.date] = date.text
            if closes { head.headerFields[.connection] = "close" }
            context.write(NIOAny(HTTPResponsePart.head(head)), promise: nil)
        case .bytes:
            let head =
                reply.shared?.http1
                ?? SharedHead.http1(
                    reply.status, reply.fields, contentLength: reply.hasLength ? reply.body.count : nil)
            context.write(NIOAny(head), promise: nil)
            context.write(NIOAny(date.ending(closes: closes)), promise: nil)
        case .frames: break
        }
    }

    func body(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        switch self {
        case .parts: context.write(NIOAny(HTTPResponsePart.body(bytes)), promise: nil)
        case .bytes: context.write(NIOAny(bytes), promise: nil)
        case .frames(let socket): socket.send(bytes)
        }
    }
}
