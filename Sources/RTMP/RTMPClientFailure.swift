/// Why publishing or playing failed.
package enum RTMPClientFailure: Error, Sendable, Hashable {
    /// The server refused the request, or the played stream has ended.
    case rejected(RTMPClientStatus)
    /// The server does not speak RTMP, or sent invalid RTMP.
    case server(RTMPFailure)
}
