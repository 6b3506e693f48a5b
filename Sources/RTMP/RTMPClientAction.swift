/// An action that the owner of a client connection must perform, in order.
package enum RTMPClientAction: Sendable, Hashable {
    case send([UInt8])
    /// The server has accepted the publish or play request: a publisher may send metadata, configurations and packets;
    /// a player will receive them.
    case ready
    /// Nothing more can be sent; close the connection.
    case failed(RTMPClientFailure)
}
