/// What is known of one RTMP output.
package struct PushStatus: Sendable, Hashable {
    package let outputID: String
    /// Without stream key.
    package let url: String
    /// The rendition that is sent.
    package let rendition: String
    package var state = PushCore.State.waiting
    /// Bytes sent over all connections, protocol included.
    package var bytes: UInt64 = 0
    /// Bytes of this connection that the server has acknowledged; `nil`: it does not acknowledge.
    package var acknowledged: UInt64?
    /// Packets that the server was too slow for.
    package var dropped = 0
    /// Milliseconds of media that wait for the server.
    package var queuedMs: Int64 = 0
    /// Attempts after the first.
    package var retries = 0
    /// Why the last connection ended or failed; `nil` when none did.
    package var lastError: String?
    package var lastFailure: PushFailure?

    package init(outputID: String, url: String, rendition: String) {
        self.outputID = outputID
        self.url = url
        self.rendition = rendition
    }
}
