package import NIOCore

/// One playlist, segment, part or initialization segment.
package struct OriginObject: Sendable {
    package enum Body: Sendable {
        case bytes([UInt8])
        /// Bytes that all replies share, one buffer after the other.
        case buffers([ByteBuffer])
        /// A file of `size` bytes that does not change any more; it may be deleted while it is sent.
        case file(path: String, size: Int)

        /// Bytes, zero or more.
        package var count: Int {
            switch self {
            case .bytes(let bytes): bytes.count
            case .buffers(let buffers): buffers.reduce(0) { $0 + $1.readableBytes }
            case .file(_, let size): max(size, 0)
            }
        }
    }

    package var body: Body
    /// Such as `application/vnd.apple.mpegurl`.
    package var contentType: String
    /// Such as `public, max-age=31536000, immutable`.
    package var cacheControl: String
    /// Strong, with its quotes (RFC 9110 §8.8.3); `nil`: none.
    package var entityTag: String?
    /// There is a form for clients that take gzip and one for those that do not.
    package var variesByEncoding: Bool
    /// This form is the compressed one.
    package var isGzip: Bool
    /// For an object that many ask for; all copies of it share them, and none of its values above changes any more.
    package var heads: SharedHeads?

    package init(
        body: Body, contentType: String, cacheControl: String, entityTag: String? = nil, variesByEncoding: Bool = false,
        isGzip: Bool = false, heads: SharedHeads? = nil
    ) {
        self.body = body
        self.contentType = contentType
        self.cacheControl = cacheControl
        self.entityTag = entityTag
        self.variesByEncoding = variesByEncoding
        self.isGzip = isGzip
        self.heads = heads
    }
}
