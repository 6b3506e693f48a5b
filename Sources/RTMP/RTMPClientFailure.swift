/// Why publishing or playing failed.
package enum RTMPClientFailure: Error, Sendable, Hashable {
    /// The server said no, or that what was played is over.
    case rejected(RTMPClientStatus)
    /// The server does not speak RTMP, or stopped to.
    case server(RTMPFailure)
}
