/// What the owner of a client connection has to do now, in order.
package enum RTMPClientAction: Sendable, Hashable {
    case send([UInt8])
    /// The server has agreed: metadata, configurations and packets may be sent, or will come.
    case ready
    /// Nothing more can be sent; close.
    case failed(RTMPClientFailure)
}
