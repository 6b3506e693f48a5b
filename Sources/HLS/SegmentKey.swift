/// The encryption of a segment: method, key URI and initialization vector.
///
/// Spec: rfc8216bis §4.4.4.4 (`EXT-X-KEY`).
package struct SegmentKey: Sendable, Hashable {
    /// The supported encryption methods (`METHOD`).
    package enum Method: String, Sendable, Hashable {
        /// AES-128-CBC over whole segments, and over each part by itself.
        case aes128 = "AES-128"
    }

    package let method: Method
    package let uri: String
    /// Initialization vector of 16 bytes; `nil`: players derive it from the media sequence number.
    package let initializationVector: [UInt8]?

    package init(method: Method, uri: String, initializationVector: [UInt8]? = nil) {
        self.method = method
        self.uri = uri
        self.initializationVector = initializationVector
    }
}
