package import RTMP

/// A stream key shortened for logs: usually enough to tell two keys apart, too little to publish with.
package struct RedactedKey: Sendable, Hashable, CustomStringConvertible {
    package let description: String

    /// Keeps the first four characters, or a third of a key with fewer than twelve.
    package init(_ key: String) { self.description = key.prefix(min(4, key.count / 3)) + "…" }

    /// Shortens the key of `address`, or its whole path if it is for another app.
    package init(_ address: StreamAddress, app: String) {
        self.init(address.key(app: app) ?? address.segments.joined(separator: "/"))
    }
}
