package import NIOCore

/// One playlist, segment, part or initialization segment.
package struct OriginObject: Sendable {
    package enum Body: Sendable {
        case bytes([UInt8])
        /// Bytes that all replies share, as consecutive buffers.
        case buffers([ByteBuffer])
        /// A file of `size` bytes that no longer changes; it may be deleted while it is sent.
        case file(path: String, size: Int)

        /// Size in bytes, zero or more.
        package var count: Int {
            switch self {
            case .bytes(let bytes): bytes.count
            case .buffers(let buffers): buffers.reduce(0) { $0 + $1.readableBytes }
            case .file(_, let size): max(size, 0)
            }
        }
    }

    package var body: Body
    /// For example `application/vnd.apple.mpegurl`.
    package var contentType: String
    /// For example `public, max-age=31536000, immutable`.
    package var cacheControl: String
    /// Strong entity tag with its quotes (RFC 9110 §8.8.3); `nil` for none.
    package var entityTag: String?
    /// Whether the object exists in a gzip form and a plain form.
    package var variesByEncoding: Bool
    /// Whether this is the gzip form.
    package var isGzip: Bool
    /// Shared response heads for an object with many requests. All copies of the object share them, so its values above
    /// must not change any more.
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
