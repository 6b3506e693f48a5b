package import NIOCore
package import PipelineSpec

/// A channel handler that refuses to connect to an address that the room's policy does not allow, before any packet is
/// sent.
///
/// Each client channel needs its own handler. If the address is refused, the connection's promise fails with
/// ``EgressPolicy/Refusal``.
package final class EgressHandler: ChannelOutboundHandler {
    package typealias OutboundIn = ByteBuffer
    package typealias OutboundOut = ByteBuffer

    private let gate: EgressGate
    private let target: EgressPolicy.Target

    /// Makes a handler for one connection.
    ///
    /// - Parameters:
    ///   - gate: Holds the room's policy.
    ///   - target: The server as named in the URL.
    package init(_ gate: EgressGate, target: EgressPolicy.Target) {
        self.gate = gate
        self.target = target
    }

    package func connect(context: ChannelHandlerContext, to address: SocketAddress, promise: EventLoopPromise<Void>?) {
        // A Unix socket has no IP address, and no URL names one.
        guard let resolved = address.ipAddress.flatMap({ IPAddress($0) }) else {
            promise?.fail(EgressPolicy.Refusal.notListed(self.target.description))
            return
        }
        if let refusal = self.gate.policy.refusal(of: self.target, at: resolved) {
            promise?.fail(refusal)
        } else {
            context.connect(to: address, promise: promise)
        }
    }
}
