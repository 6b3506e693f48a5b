/// A client's request to publish. All text comes from the client.
package struct PublishRequest: Sendable, Hashable {
    /// Number of the request on this connection, starting at 1; a decision refers to it.
    package let id: Int
    /// Path and query of the address, combined from `app` and the stream name.
    package let address: StreamAddress
    /// `tcUrl` of the client's `connect` command; empty if absent.
    package let tcURL: String
    /// `flashVer` of `connect`, which names the encoder; empty if absent.
    package let flashVersion: String

    package init(id: Int, address: StreamAddress, tcURL: String, flashVersion: String) {
        self.id = id
        self.address = address
        self.tcURL = tcURL
        self.flashVersion = flashVersion
    }
}
