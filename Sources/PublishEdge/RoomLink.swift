import Ingest
import NIOCore

/// The connection to a room, as the publisher's handler uses it: writes that are counted, so that the publisher is not
/// read while the room does not accept bytes.
///
/// Bound to its event loop.
final class RoomLink {
    /// Time for the room to accept the last bytes of a publisher that has left.
    private static let flushTime = TimeAmount.seconds(5)

    let channel: any Channel
    private let socket: NIOBSDSocket.Handle?
    /// Bytes that the channel has not written yet.
    private(set) var pending = 0
    private var isEnding = false
    /// Called when ``pending`` is 0 again.
    var drained: () -> Void = {}

    init(_ channel: any Channel) {
        self.channel = channel
        self.socket = SocketReader.socket(of: channel)
    }

    /// Writes bytes through the channel; they are pending until it has written them.
    func write(_ buffer: ByteBuffer) {
        guard buffer.readableBytes > 0 else { return }
        let count = buffer.readableBytes
        self.pending += count
        let link = NIOLoopBound(self, eventLoop: self.channel.eventLoop)
        self.channel.writeAndFlush(buffer).whenComplete { _ in link.value.wrote(count) }
    }

    /// Writes to the socket directly if nothing is pending; the rest through the channel.
    func forward(_ buffer: inout ByteBuffer) {
        if self.pending == 0, let socket, self.channel.isActive, !SocketForwarder.send(socket, &buffer) {
            self.channel.close(promise: nil)
            return
        }
        // A copy, because the buffer is reused.
        if buffer.readableBytes > 0 { self.write(ByteBuffer(bytes: buffer.readableBytesView)) }
    }

    /// Moves what has arrived at the publisher's socket to the room's without copying it; what the room's socket does not
    /// accept is written through the channel.
    ///
    /// - Parameter rest: Used for what is not accepted.
    /// - Returns: Number of bytes taken from the publisher's socket; nil if this is impossible at present, or with this
    ///   pipe. Then use ``forward(_:)``.
    func splice(
        from publisher: NIOBSDSocket.Handle, through pipe: SplicePipe, size: Int, rest: inout ByteBuffer
    ) -> Int? {
        guard self.pending == 0, let socket, self.channel.isActive else { return nil }
        let moved = pipe.move(from: publisher, to: socket, size: size, rest: &rest)
        if moved.isBroken { self.channel.close(promise: nil) }
        // A copy, because the buffer is reused.
        if rest.readableBytes > 0 { self.write(ByteBuffer(bytes: rest.readableBytesView)) }
        return pipe.isUsable || moved.bytes > 0 ? moved.bytes : nil
    }

    /// Closes the connection when the room has got all bytes, or after some seconds.
    func end() {
        guard !self.isEnding else { return }
        self.isEnding = true
        let channel = self.channel
        channel.eventLoop.scheduleTask(in: Self.flushTime) { channel.close(promise: nil) }
        channel.setOption(.autoRead, value: true).whenFailure { _ in }
        if self.pending == 0 { self.finish() }
    }

    /// Shuts down only the sending side, and goes on reading until the room closes: an acknowledgement that arrives
    /// unread would turn the close into a TCP reset, and the room would lose the last bytes of its publisher.
    private func finish() { self.channel.close(mode: .output, promise: nil) }

    private func wrote(_ count: Int) {
        self.pending -= count
        guard self.pending == 0 else { return }
        if self.isEnding { self.finish() } else { self.drained() }
    }
}

/// Hands the events of a connection to a room to the publisher's handler.
final class RoomHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private weak var publisher: EdgePublisherHandler?
    private let attempt: Int

    init(_ publisher: EdgePublisherHandler, attempt: Int) {
        self.publisher = publisher
        self.attempt = attempt
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.publisher?.roomSent(self.unwrapInboundIn(data), attempt: self.attempt)
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.publisher?.roomClosed(attempt: self.attempt)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
