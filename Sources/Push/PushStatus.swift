/// The state and the counters of one RTMP output.
package struct PushStatus: Sendable, Hashable {
    package let outputID: String
    /// URL of the server, without the stream key.
    package let url: String
    /// Name of the rendition that is sent.
    package let rendition: String
    package var state = PushCore.State.waiting
    /// Bytes sent over all connections, including protocol overhead.
    package var bytes: UInt64 = 0
    /// Bytes of the current connection that the server has acknowledged; `nil` if the server sends no acknowledgements.
    package var acknowledged: UInt64?
    /// Number of packets dropped: because the server was too slow, before the next key frame, or because they were queued
    /// when a connection failed.
    package var dropped = 0
    /// Duration of the queued media, in milliseconds.
    package var queuedMs: Int64 = 0
    /// Number of connection attempts after a failure; redirects are not counted.
    package var retries = 0
    /// Why the last connection ended or failed; `nil` if none has.
    package var lastError: String?
    package var lastFailure: PushFailure?

    package init(outputID: String, url: String, rendition: String) {
        self.outputID = outputID
        self.url = url
        self.rendition = rendition
    }
}
