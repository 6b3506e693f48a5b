package import NIOCore

/// An object that viewers request, such as a playlist, segment, part, initialization segment or key.
package struct OriginObject: Sendable {
    package enum Body: Sendable {
        case bytes([UInt8])
        /// Bytes that all replies share, as consecutive buffers.
        case buffers([ByteBuffer])
        /// A file of `size` bytes that no longer changes; it may be deleted while it is sent.
        case file(path: String, size: Int)

        /// Size of the object in bytes, zero or more.
        package var count: Int {
            switch self {
            case .bytes(let bytes): bytes.count
            case .buffers(let buffers): buffers.reduce(0) { $0 + $1.readableBytes }
            case .file(_, let size): max(size, 0)
            }
        }
    }

    package var body: Body
    /// `Content-Type`, for example `application/vnd.apple.mpegurl`.
    package var contentType: String
    /// `Cache-Control`, for example `public, max-age=31536000, immutable`.
    package var cacheControl: String
    /// Strong entity tag with its quotes (RFC 9110 §8.8.3); `nil` for none.
    package var entityTag: String?
    /// Whether the object is available both compressed with gzip and uncompressed.
    package var variesByEncoding: Bool
    /// Whether the body is compressed with gzip.
    package var isGzip: Bool
    /// Cached response heads for an object with many requests; `nil` for none. All copies of the object share them, so
    /// its other properties must not change once this is set.
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
