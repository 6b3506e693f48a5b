import Admission
import NIOCore
import PipelineSpec

/// Takes the PROXY header off a connection, below TLS, and tells whose connection it is.
///
/// Stands only in connections from proxies that are named: anybody else could claim any address.
final class ProxyHeaderHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// Comes before the first byte; nil when the connection is the proxy's own.
    struct Proxied: Sendable {
        let address: IPAddress?
        let port: Int
    }

    struct Malformed: Error, CustomStringConvertible {
        let description = "no PROXY header from a proxy"
    }

    private var bytes: [UInt8] = []

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
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
