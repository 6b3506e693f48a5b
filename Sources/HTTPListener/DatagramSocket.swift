package import NIOCore
package import NIOPosix
import Synchronization

/// The UDP socket of WebRTC peers, which is opened again on the same port when an error has closed it: some errors of one
/// write close a socket of NIO. Peers notice a short loss.
package final class DatagramSocket: Sendable {
    /// Opens a socket on the event loop. Called on any thread.
    package typealias Bind = @Sendable (_ port: Int) -> EventLoopFuture<any Channel>

    /// Wait before a socket that was closed by an error is opened again, and between attempts.
    package static let reopenDelay = TimeAmount.milliseconds(100)

    /// The address that the socket is bound to.
    package let localAddress: SocketAddress?
    private let port: Int
    private let loop: any EventLoop
    private let bind: Bind
    private let state = Mutex<(channel: (any Channel)?, isClosed: Bool)>((nil, false))

    private init(_ localAddress: SocketAddress?, port: Int, on loop: any EventLoop, bind: @escaping Bind) {
        self.localAddress = localAddress
        self.port = port
        self.loop = loop
        self.bind = bind
    }

    /// Opens the socket. It stays open until ``close()``.
    ///
    /// - Parameter port: 0: any free port.
    package static func open(
        port: Int, on loop: any EventLoop, bind: @escaping Bind
    ) -> EventLoopFuture<DatagramSocket> {
        bind(port).map { channel in
            let address = channel.localAddress
            let socket = DatagramSocket(address, port: address?.port ?? port, on: loop, bind: bind)
            socket.keep(channel)
            return socket
        }
    }

    /// A bootstrap with buffers for bursts of datagrams.
    ///
    /// - Parameter handler: Makes the handler of the socket. Called on the event loop, each time a socket is opened.
    package static func bootstrap(
        on loop: any EventLoop, handler: @escaping @Sendable () -> any ChannelHandler
    ) -> DatagramBootstrap {
        DatagramBootstrap(group: loop)
            .channelOption(.socketOption(.so_rcvbuf), value: 1 << 20)
            .channelOption(.datagramVectorReadMessageCount, value: 16)
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 16 * 2048))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(handler())
                }
            }
    }

    private var isClosed: Bool { self.state.withLock { $0.isClosed } }

    private func keep(_ channel: any Channel) {
        let isClosed = self.state.withLock { state in
            state.channel = channel
            return state.isClosed
        }
        if isClosed { return channel.close(promise: nil) }
        channel.closeFuture.whenComplete { [weak self] _ in self?.reopenLater() }
    }

    private func reopenLater() {
        guard !self.isClosed else { return }
        self.loop.scheduleTask(in: Self.reopenDelay) { [weak self] in
            guard let self, !self.isClosed else { return }
            self.bind(self.port).whenComplete { [weak self] result in
                switch result {
                case .success(let channel):
                    guard let self else { return channel.close(promise: nil) }
                    self.keep(channel)
                case .failure: self?.reopenLater()
                }
            }
        }
    }

    /// Closes the socket, which is not opened again. May be called twice.
    package func close() async {
        let channel = self.state.withLock { state in
            state.isClosed = true
            return state.channel
        }
        try? await channel?.close().get()
    }
}
