/// Why publishing or playing failed.
package enum RTMPClientFailure: Error, Sendable, Hashable {
    /// The server refused the request, sent an error status later, or asked the client to reconnect; or the played stream
    /// has ended.
    case rejected(RTMPClientStatus)
    /// The server does not speak RTMP, sent invalid RTMP, or exceeded a limit.
    case server(RTMPFailure)
}
