/// One playlist, segment, part or initialization segment.
package struct OriginObject: Sendable {
    package enum Body: Sendable {
        case bytes([UInt8])
        /// A file of `size` bytes that does not change any more; it may be deleted while it is sent.
        case file(path: String, size: Int)

        /// Bytes, zero or more.
        package var count: Int {
            switch self {
            case .bytes(let bytes): bytes.count
            case .file(_, let size): max(size, 0)
            }
        }
    }

    package var body: Body
    /// Such as `application/vnd.apple.mpegurl`.
    package var contentType: String
    /// Such as `public, max-age=31536000, immutable`.
    package var cacheControl: String

    package init(body: Body, contentType: String, cacheControl: String) {
        self.body = body
        self.contentType = contentType
        self.cacheControl = cacheControl
    }
}
