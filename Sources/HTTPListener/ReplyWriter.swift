import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Writes replies in one of three forms: as parts for the encoder of an HTTP/2 stream or a TLS connection; as HTTP/1.1
/// bytes, whose heads and bodies many connections can share; or as WebSocket frames after the head.
enum ReplyWriter {
    case parts
    case bytes
    /// Writes bodies as WebSocket frames; the head has been written before.
    case frames(WebSocketHandler)

    private static let carryOn = ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n")

    /// Writes the interim response `100 Continue`.
    ///
    /// Spec: RFC 9110 §10.1.1.
    func carryOn(_ context: ChannelHandlerContext) {
        switch self {
        case .parts: context.write(NIOAny(HTTPResponsePart.head(HTTPResponse(status: .continue))), promise: nil)
        case .bytes: context.write(NIOAny(Self.carryOn), promise: nil)
        case .frames: return
        }
        context.flush()
    }

    /// Writes status and fields, and adds the length and the date.
    ///
    /// - Parameter closes: True if the connection closes after the reply.
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
