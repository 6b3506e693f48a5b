package import RTMP

/// A stream key as it may stand in a log: enough to tell two apart, too little to publish with.
package struct RedactedKey: Sendable, Hashable, CustomStringConvertible {
    package let description: String

    /// Shows four characters, and fewer of a key under twelve.
    package init(_ key: String) { self.description = key.prefix(min(4, key.count / 3)) + "…" }

    /// The key of `address`; its whole path when it is for another app.
    package init(_ address: StreamAddress, app: String) {
        self.init(address.key(app: app) ?? address.segments.joined(separator: "/"))
    }
}
