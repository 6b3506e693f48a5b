/// Why publishing failed.
package enum RTMPClientFailure: Error, Sendable, Hashable {
    /// The server said no.
    case rejected(RTMPClientStatus)
    /// The server does not speak RTMP, or stopped to.
    case server(RTMPFailure)
}
