/// What a client that asks to publish says of itself. All of it is text from outside.
package struct PublishRequest: Sendable, Hashable {
    /// Which request of the connection this is, 1 upwards; a decision names it.
    package let id: Int
    /// Path and query of the address, from `app` and stream name together.
    package let address: StreamAddress
    /// `tcUrl` of `connect`; empty when absent.
    package let tcURL: String
    /// `flashVer` of `connect`, which names the encoder; empty when absent.
    package let flashVersion: String

    package init(id: Int, address: StreamAddress, tcURL: String, flashVersion: String) {
        self.id = id
        self.address = address
        self.tcURL = tcURL
        self.flashVersion = flashVersion
    }
}
