import NIOCore
import WebRTC

/// One TCP connection of a WebRTC client, for networks that block UDP. Its packets are those of UDP, each with its length
/// before it.
///
/// States: unknown → bound to a publisher by its first valid connectivity check → closed. An unknown connection is closed by
/// its first other packet, by a check that is not valid, or after ``patience``.
///
/// Spec: RFC 6544, RFC 4571.
final class WebRTCStreamHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// Time for the first valid check. Clients send it at once.
    static let patience = TimeAmount.seconds(10)
    /// A connection to which more bytes wait is closed. Reports need a few kilobytes per second, so its client does not read.
    static let mostWaiting = 64 << 10

    let number: Int
    let remote: SocketAddress
    let address: ICEAddress
    /// Whose packets arrive; nil before the first valid check.
    var publisher: WebRTCPublisher?
    private let door: WebRTCListener
    private var stream = FramedStream()
    private var context: ChannelHandlerContext?
    private var deadline: Scheduled<Void>?

    init(_ door: WebRTCListener, number: Int, remote: SocketAddress, address: ICEAddress) {
        self.door = door
        self.number = number
        self.remote = remote
        self.address = address
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelActive(context: ChannelHandlerContext) {
        let box = NIOLoopBound(self, eventLoop: context.eventLoop)
        self.deadline = context.eventLoop.scheduleTask(in: Self.patience) {
            if box.value.publisher == nil { box.value.close() }
        }
        self.door.opened(self)
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.deadline?.cancel()
        self.context = nil
        self.door.closed(self)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.stream.append(self.unwrapInboundIn(data).readableBytesView)
        while self.context != nil {
            switch self.stream.next() {
            case .needsBytes: return
            case .packet(let packet): if !self.door.receive(packet, on: self) { self.close() }
            case .tooLong: self.close()
            }
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) { self.door.readComplete() }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { self.close() }

    /// Sends a packet, or closes the connection if its client does not read.
    func send(_ packet: [UInt8]) {
        guard let context, let frame = FramedStream.frame(packet) else { return }
        guard context.channel.isWritable else { return self.close() }
        context.writeAndFlush(self.wrapOutboundOut(context.channel.allocator.buffer(bytes: frame)), promise: nil)
    }

    func close() {
        let context = self.context
        self.context = nil
        context?.close(promise: nil)
    }
}
