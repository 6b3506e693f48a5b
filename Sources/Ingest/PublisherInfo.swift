/// A publisher, as its connection describes it.
package struct PublisherInfo: Sendable, Hashable {
    /// The encoder's name, such as `flashVer` or the version of the SRT library, at most 128 characters; empty if unknown.
    /// Pull sources have `rtmp-pull` or `srt-pull`.
    package let encoder: String
    /// Remote address, `IP:PORT`; for a pull source the server of its URL.
    package let remote: String
    /// True if this publisher took the source over from another one.
    package let isTakeover: Bool

    package init(encoder: String, remote: String, isTakeover: Bool) {
        self.encoder = encoder
        self.remote = remote
        self.isTakeover = isTakeover
    }
}
