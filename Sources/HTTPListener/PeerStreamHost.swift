package import NIOCore
package import NIOPosix
package import WebRTC

/// A server of WebRTC sessions that can use TCP connections, each with a ``PeerStreamHandler``. Bound to one event loop.
package protocol PeerStreamHost: AnyObject, SendableMetatype {
    /// The object to which a session belongs, such as a viewer.
    associatedtype Owner: AnyObject

    /// When a connection whose client does not read is closed.
    static var backlog: StreamBacklog.Limits { get }
    var streams: PeerStreams<PeerStreamHandler<Self>, Owner> { get set }
    /// Monotonic time in nanoseconds.
    var now: Int64 { get }

    /// A connection is open.
    func opened(_ stream: PeerStreamHandler<Self>)
    /// A connection is bound to a session.
    func bound(_ stream: PeerStreamHandler<Self>)
    /// A connection was closed. `owner` has lost its address; nil if it belonged to no session.
    func closed(_ stream: PeerStreamHandler<Self>, of owner: Owner?)
    /// A connection has become full, or has room again.
    func changed(_ stream: PeerStreamHandler<Self>, isFull: Bool)

    /// Parses a connectivity check, and finds the session whose user name fragment it contains; nil if the bytes are not a
    /// check, or no session has the fragment.
    func owner(ofCheck bytes: [UInt8]) -> (STUNMessage, Owner)?
    /// Whether a session has not ended and knows the address from a valid check.
    func isKnown(_ address: ICEAddress, to owner: Owner) -> Bool
    /// Takes a connectivity check for a session.
    func receive(_ check: STUNMessage, of owner: Owner, from address: ICEAddress)
    /// Takes any other packet of a session. The bytes are undefined afterwards.
    func receive(_ packet: inout [UInt8], of owner: Owner, from address: ICEAddress)
    /// Counts a packet that belongs to no session, or to another session than that of its connection.
    func noteStranger()
    /// All packets that had arrived were taken.
    func readComplete()
}

extension PeerStreamHost {
    /// Time for the first valid check of a connection. Clients send it at once.
    package static var patience: TimeAmount { .seconds(10) }

    /// Takes a packet of a TCP connection.
    ///
    /// - Returns: False if the connection must be closed: it is not bound to a session, and the packet does not bind it.
    package func receive(_ packet: [UInt8], on stream: PeerStreamHandler<Self>) -> Bool {
        let known = self.streams.owner(of: stream)
        guard let first = packet.first, first < 4 else {
            guard let known else {
                self.noteStranger()
                return false
            }
            var bytes = packet
            self.receive(&bytes, of: known, from: stream.address)
            return true
        }
        guard let (check, owner) = self.owner(ofCheck: packet), known == nil || known === owner else {
            self.noteStranger()
            return known != nil
        }
        if known == nil {
            self.closeStreams(of: owner) { !self.isKnown($0, to: owner) }
            guard self.streams.begin(stream, at: stream.address, of: owner) else { return false }
        }
        self.receive(check, of: owner, from: stream.address)
        guard known == nil else { return true }
        guard self.isKnown(stream.address, to: owner) else {
            self.streams.remove(stream, at: stream.address, of: owner)
            return false
        }
        self.streams.bind(stream, to: owner)
        self.bound(stream)
        return true
    }

    /// A connection was closed.
    func closed(_ stream: PeerStreamHandler<Self>) {
        self.closed(stream, of: self.streams.remove(stream, at: stream.address))
    }

    /// Closes the connections of a session for whose addresses `isOver` returns true.
    package func closeStreams(of owner: Owner, _ isOver: (ICEAddress) -> Bool = { _ in true }) {
        for stream in self.streams.removeAll(of: owner, where: isOver) { stream.close() }
    }
}

/// Opens the TCP sockets of WebRTC peers.
package enum PeerStreamSocket {
    /// A bootstrap for connections with packets of peers.
    ///
    /// - Parameters:
    ///   - high: Bytes that wait in a connection that is full. It has room again when less than half of them wait.
    ///   - sendBuffer: Size of the system's buffer in bytes; nil: the system decides.
    ///   - handler: Makes the handler of a connection; nil: the connection is closed. Called on its event loop.
    package static func bootstrap(
        on group: any EventLoopGroup, high: Int, sendBuffer: Int32? = nil,
        handler: @escaping @Sendable (_ remote: SocketAddress?) -> (any ChannelHandler)?
    ) -> ServerBootstrap {
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 64)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    guard let handler = handler(channel.remoteAddress) else { throw ChannelError.eof }
                    try channel.pipeline.syncOperations.addHandler(handler)
                }
            }
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.socketOption(.so_keepalive), value: 1)
            .childChannelOption(
                .writeBufferWaterMark,
                value: ChannelOptions.Types.WriteBufferWaterMark(low: high / 2, high: high)
            )
            .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 16 << 10))
            .childChannelOption(.maxMessagesPerRead, value: 4)
        guard let sendBuffer else { return bootstrap }
        return bootstrap.childChannelOption(.socketOption(.so_sndbuf), value: SocketOptionValue(sendBuffer))
    }
}
