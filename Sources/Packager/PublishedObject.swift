/// An object that viewers can request.
package struct PublishedObject: Sendable, Hashable {
    /// Location of the bytes.
    package enum Body: Sendable, Hashable {
        case bytes([UInt8])
        /// A finished file; its content never changes.
        case file(path: String, size: Int)
    }

    package let body: Body
    package let contentType: String
    package let cacheControl: String

    package init(body: Body, contentType: String, cacheControl: String) {
        self.body = body
        self.contentType = contentType
        self.cacheControl = cacheControl
    }

    /// Spec: rfc8216bis §4.
    static let playlistType = "application/vnd.apple.mpegurl"
    /// A segment's name never gets other bytes.
    static let immutable = "public, max-age=31536000, immutable"
}
