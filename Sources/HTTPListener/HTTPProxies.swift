package import NIOCore

/// The proxies in front of a listener, and how they name the client of a connection.
package struct HTTPProxies: Sendable {
    /// What the first bytes of a connection are.
    package enum Header: Sendable {
        /// More bytes are needed.
        case incomplete
        /// There is no header: the bytes are those of the client.
        case none
        /// A header of `length` bytes; `client` is nil if it names none.
        case named(client: SocketAddress?, length: Int)
        case malformed
    }

    /// Whether an address is that of a proxy. The number of its connections is not limited, because all clients share it.
    let contains: @Sendable (SocketAddress) -> Bool
    let header: @Sendable ([UInt8]) -> Header

    /// - Parameters:
    ///   - contains: Whether an address is that of a proxy. Only the connections of proxies may begin with a header.
    ///   - header: Reads the first bytes of a connection.
    package init(
        contains: @escaping @Sendable (SocketAddress) -> Bool, header: @escaping @Sendable ([UInt8]) -> Header
    ) {
        self.contains = contains
        self.header = header
    }
}

/// Removes the header of a proxy from the beginning of a connection, and knows the client that it names. The handler sits
/// below TLS, and only in connections of proxies.
final class ProxiedClientHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let proxies: HTTPProxies
    private var bytes: [UInt8] = []
    private var isDone = false
    /// The client's address; nil before the header, and without one.
    private(set) var client: SocketAddress?

    init(_ proxies: HTTPProxies) { self.proxies = proxies }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !self.isDone else { return context.fireChannelRead(data) }
        self.bytes += self.unwrapInboundIn(data).readableBytesView
        switch self.proxies.header(self.bytes) {
        case .incomplete: return
        case .malformed:
            self.isDone = true
            self.bytes = []
            return context.close(promise: nil)
        case .none: self.isDone = true
        case .named(let client, let length):
            self.isDone = true
            self.client = client
            self.bytes.removeFirst(min(length, self.bytes.count))
        }
        let rest = self.bytes
        self.bytes = []
        if !rest.isEmpty { context.fireChannelRead(self.wrapInboundOut(ByteBuffer(bytes: rest))) }
    }
}
