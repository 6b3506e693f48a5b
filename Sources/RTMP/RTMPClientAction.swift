/// An action that the owner of a client connection must perform, in order.
package enum RTMPClientAction: Sendable, Hashable {
    case send([UInt8])
    /// The server has accepted: metadata, configurations and packets may be sent, or will arrive.
    case ready
    /// Nothing more can be sent; close the connection.
    case failed(RTMPClientFailure)
}
