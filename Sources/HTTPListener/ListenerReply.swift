package import HTTPTypes
package import NIOCore

/// One HTTP response. `Content-Length`, `Date` and the omission of the body for HEAD are the listener's to add.
package struct ListenerReply: Sendable {
    package enum Body: Sendable {
        case none
        /// The bytes of `range` of `bytes`.
        case bytes([UInt8], range: Range<Int>)
        /// Bytes that many replies share: none is copied.
        case buffers([ByteBuffer])
        /// The bytes of `range` of a file of `size` bytes. A file that cannot be opened makes the reply 404.
        case file(path: String, size: Int, range: Range<Int>)
        /// Bytes that come as time goes by. The reply has no length, and the connection ends with it.
        case stream(any ReplyStream)
        /// A WebSocket, each piece in a binary frame of its own: of a reply that has switched protocols (RFC 6455 §4.2.2), to a
        /// request that asked for it. Of the client nothing is read but control frames.
        case socket(any ReplyStream)

        package static func bytes(_ bytes: [UInt8]) -> Body { .bytes(bytes, range: 0..<bytes.count) }
        package static func text(_ text: String) -> Body { .bytes(Array(text.utf8)) }

        /// Bytes to send, as far as they are known.
        package var count: Int {
            switch self {
            case .none, .stream, .socket: 0
            case .bytes(_, let range), .file(_, _, let range): range.count
            case .buffers(let buffers): buffers.reduce(0) { $0 + $1.readableBytes }
            }
        }
    }

    /// Whether it is known how long it is.
    var hasLength: Bool { if case .stream = self.body { false } else { !self.isSocket } }

    var isSocket: Bool { if case .socket = self.body { true } else { false } }

    package var status: HTTPResponse.Status { didSet { self.shared = nil } }
    package var fields: HTTPFields { didSet { self.shared = nil } }
    package var body: Body { didSet { self.shared = nil } }
    /// The same head as many others have; gone with any change to this reply.
    package private(set) var shared: SharedHead?

    package init(_ status: HTTPResponse.Status, fields: HTTPFields = [:], body: Body = .none) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// - Parameter body: As many bytes as the one the head was made for has.
    package init(_ shared: SharedHead, body: Body) {
        self.status = shared.status
        self.fields = shared.fields
        self.body = body
        self.shared = shared
    }

    /// A one-line answer for people.
    package static func plain(_ status: HTTPResponse.Status, _ text: String, fields: HTTPFields = [:]) -> ListenerReply
    {
        var fields = fields
        fields[.contentType] = "text/plain; charset=utf-8"
        return ListenerReply(status, fields: fields, body: .text(text + "\n"))
    }
}
