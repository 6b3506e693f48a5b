import PublishAuth
package import NIOCore
package import PipelineSpec

/// Removes the PROXY header from a connection, below TLS, and reports the client's address.
///
/// Added only to connections from configured proxies: any other client could claim any address.
package final class ProxyHeaderHandler: ChannelInboundHandler, RemovableChannelHandler {
    package typealias InboundIn = ByteBuffer
    package typealias InboundOut = ByteBuffer

    /// The client's address from the PROXY header, passed on before the first byte of data. `address` is nil if the
    /// header names no client, for example in a health check of the proxy itself.
    package struct Proxied: Sendable {
        package let address: IPAddress?
        package let port: Int
    }

    struct Malformed: Error, CustomStringConvertible {
        let description = "the proxy sent no valid PROXY header"
    }

    private var bytes: [UInt8] = []

    package init() {}

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.bytes += self.unwrapInboundIn(data).readableBytesView
        switch ProxyHeader.read(self.bytes) {
        case .incomplete: break
        case .malformed:
            context.fireErrorCaught(Malformed())
            context.close(promise: nil)
        case .header(let header):
            context.fireUserInboundEventTriggered(Proxied(address: header.source, port: header.port))
            let rest = self.bytes.dropFirst(header.length)
            self.bytes = []
            if !rest.isEmpty { context.fireChannelRead(self.wrapInboundOut(ByteBuffer(bytes: rest))) }
            context.pipeline.syncOperations.removeHandler(self, promise: nil)
        }
    }
}
