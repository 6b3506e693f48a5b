package import HTTPTypes
package import NIOCore

/// One HTTP response. The listener adds `Date`, and `Content-Length` if the length of the body is known, and omits the
/// body for HEAD.
package struct ListenerReply: Sendable {
    package enum Body: Sendable {
        case none
        /// The bytes of `range` of `bytes`.
        case bytes([UInt8], range: Range<Int>)
        /// Buffers shared by many replies, which are not copied.
        case buffers([ByteBuffer])
        /// The bytes of `range` of a file of `size` bytes. If the file cannot be opened, the reply becomes 404; if too many
        /// files are open or being sent, 503.
        case file(path: String, size: Int, range: Range<Int>)
        /// Bytes produced over time. The reply has no length, and an HTTP/1.1 connection closes after it.
        case stream(any ReplyStream)
        /// A WebSocket that sends each piece in a binary frame. The reply must have status 101 (RFC 6455 §4.2.2), for a
        /// request that asked for a WebSocket. Only control frames are read from the client.
        case socket(any ReplyStream)

        package static func bytes(_ bytes: [UInt8]) -> Body { .bytes(bytes, range: 0..<bytes.count) }
        package static func text(_ text: String) -> Body { .bytes(Array(text.utf8)) }

        /// What produces the body of a stream or a WebSocket; nil for other bodies.
        var producer: (any ReplyStream)? {
            switch self {
            case .stream(let stream), .socket(let stream): stream
            case .none, .bytes, .buffers, .file: nil
            }
        }

        /// Number of bytes of the body; 0 for a stream or WebSocket, whose length is not known in advance.
        package var count: Int {
            switch self {
            case .none, .stream, .socket: 0
            case .bytes(_, let range), .file(_, _, let range): range.count
            case .buffers(let buffers): buffers.reduce(0) { $0 + $1.readableBytes }
            }
        }
    }

    /// True if the length of the body is known before it is sent.
    var hasLength: Bool { if case .stream = self.body { false } else { !self.isSocket } }

    var isSocket: Bool { if case .socket = self.body { true } else { false } }

    package var status: HTTPResponse.Status { didSet { self.shared = nil } }
    package var fields: HTTPFields { didSet { self.shared = nil } }
    package var body: Body { didSet { self.shared = nil } }
    /// The rendered head that many replies share; nil if there is none. Any change to the reply removes it.
    package private(set) var shared: SharedHead?

    package init(_ status: HTTPResponse.Status, fields: HTTPFields = [:], body: Body = .none) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// Creates a reply that reuses a head rendered earlier.
    ///
    /// - Parameter body: Must have the same length as the body that the head was made for.
    package init(_ shared: SharedHead, body: Body) {
        self.status = shared.status
        self.fields = shared.fields
        self.body = body
        self.shared = shared
    }

    /// Makes a reply of the type `text/plain` whose body is `text` and a line break.
    package static func plain(_ status: HTTPResponse.Status, _ text: String, fields: HTTPFields = [:]) -> ListenerReply
    {
        var fields = fields
        fields[.contentType] = "text/plain; charset=utf-8"
        return ListenerReply(status, fields: fields, body: .text(text + "\n"))
    }
}
