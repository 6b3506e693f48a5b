/// A publisher, as its connection describes it.
package struct PublisherInfo: Sendable, Hashable {
    /// The encoder's name (`flashVer`), truncated to 128 characters; empty if it sent none.
    package let encoder: String
    /// Remote address, `IP:PORT`.
    package let remote: String
    /// True if this publisher took the source over from another one.
    package let isTakeover: Bool

    package init(encoder: String, remote: String, isTakeover: Bool) {
        self.encoder = encoder
        self.remote = remote
        self.isTakeover = isTakeover
    }
}
