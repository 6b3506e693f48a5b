/// Who publishes, as far as the connection says.
package struct PublisherInfo: Sendable, Hashable {
    /// The encoder's name for itself (`flashVer`), cut to 128 characters; empty when it has none.
    package let encoder: String
    /// Remote address, `IP:PORT`.
    package let remote: String
    /// It took the source over from another connection.
    package let isTakeover: Bool

    package init(encoder: String, remote: String, isTakeover: Bool) {
        self.encoder = encoder
        self.remote = remote
        self.isTakeover = isTakeover
    }
}
