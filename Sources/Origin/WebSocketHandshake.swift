package import HTTPListener
package import HTTPTypes
import LibAV
import MediaTypes

/// The result of a request's WebSocket handshake.
///
/// Spec: RFC 6455 §4.2, without extensions and subprotocols.
package enum WebSocketHandshake: Sendable {
    /// The request does not ask for a WebSocket.
    case notAsked
    /// The handshake is valid; these are the header fields of the reply that switches protocols.
    case accepted(HTTPFields)
    /// The handshake is invalid; this is the error reply.
    case refused(ListenerReply)

    private static let version = "13"
    /// Size in bytes of the client's nonce, `Sec-WebSocket-Key` without base64.
    private static let nonceSize = 16
    /// GUID that is appended to the client's key to compute `Sec-WebSocket-Accept` (§1.3).
    private static let identifier = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

    package init(_ head: HTTPRequest) {
        let fields = head.headerFields
        guard head.method == .get, Self.lists("websocket", fields[.upgrade]), Self.lists("upgrade", fields[.connection])
        else {
            self = .notAsked
            return
        }
        guard fields[.secWebSocketVersion] == Self.version else {
            self = .refused(
                .plain(
                    .upgradeRequired, "only version \(Self.version) of the WebSocket protocol is supported",
                    fields: [.upgrade: "websocket", .connection: "Upgrade", .secWebSocketVersion: Self.version]))
            return
        }
        guard let key = fields[.secWebSocketKey], key.utf8.count == (Self.nonceSize + 2) / 3 * 4,
            Base64.decode(key)?.count == Self.nonceSize
        else {
            self = .refused(.plain(.badRequest, "Sec-WebSocket-Key is not \(Self.nonceSize) bytes in base64"))
            return
        }
        self = .accepted([
            .upgrade: "websocket", .connection: "Upgrade",
            .secWebSocketAccept: Base64.encode(Digest.sha1(of: Array((key + Self.identifier).utf8))),
        ])
    }

    /// Whether a comma-separated header field contains a word, ignoring case.
    private static func lists(_ word: String, _ field: String?) -> Bool {
        (field ?? "").split(separator: ",").contains { $0.filter { $0 != " " && $0 != "\t" }.lowercased() == word }
    }
}
