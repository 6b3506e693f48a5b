/// An object that viewers can request over HTTP, with its headers.
package struct PublishedObject: Sendable, Hashable {
    /// The content of an object, or the file that has it.
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

    /// MIME type of playlists. Spec: rfc8216bis §4.
    static let playlistType = "application/vnd.apple.mpegurl"
    /// `Cache-Control` of segments: the bytes of a segment's name never change.
    static let immutable = "public, max-age=31536000, immutable"
}
