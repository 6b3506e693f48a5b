package import NIOCore
package import WebRTC

/// One TCP connection of a WebRTC peer, for networks that block UDP. Its packets are those of UDP, each with its length
/// before it.
///
/// States: unknown → bound to a session by its first valid connectivity check → closed. An unknown connection is closed by
/// its first other packet, by a check that is not valid, or after ``PeerStreamHost/patience``.
///
/// Spec: RFC 6544, RFC 4571.
package final class PeerStreamHandler<Host: PeerStreamHost>: ChannelInboundHandler {
    package typealias InboundIn = ByteBuffer
    package typealias OutboundOut = ByteBuffer

    package let number: Int
    package let address: ICEAddress
    private let host: Host
    private var stream = FramedStream()
    private var backlog: StreamBacklog
    private var context: ChannelHandlerContext?
    private var deadline: Scheduled<Void>?

    package init(_ host: Host, number: Int, address: ICEAddress) {
        self.host = host
        self.number = number
        self.address = address
        self.backlog = StreamBacklog(limits: Host.backlog)
    }

    package func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    package func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    package func channelActive(context: ChannelHandlerContext) {
        let box = NIOLoopBound(self, eventLoop: context.eventLoop)
        self.deadline = context.eventLoop.scheduleTask(in: Host.patience) {
            if box.value.owner == nil { box.value.close() }
        }
        self.host.opened(self)
    }

    package func channelInactive(context: ChannelHandlerContext) {
        self.deadline?.cancel()
        self.context = nil
        self.host.closed(self)
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.stream.append(self.unwrapInboundIn(data).readableBytesView)
        while self.context != nil {
            switch self.stream.next() {
            case .needsBytes: return
            case .packet(let packet): if !self.host.receive(packet, on: self) { self.close() }
            case .tooLong: self.close()
            }
        }
    }

    package func channelReadComplete(context: ChannelHandlerContext) { self.host.readComplete() }

    package func channelWritabilityChanged(context: ChannelHandlerContext) {
        let isFull = !context.channel.isWritable
        self.backlog.changed(isFull: isFull, now: self.host.now)
        if isFull { return self.host.changed(self, isFull: true) }
        // Later: this may be called within a write of the host.
        let box = NIOLoopBound(self, eventLoop: context.eventLoop)
        context.eventLoop.execute {
            let handler = box.value
            if handler.context != nil, !handler.backlog.isFull { handler.host.changed(handler, isFull: false) }
        }
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) { self.close() }

    /// The session that the connection is bound to; nil before.
    private var owner: Host.Owner? { self.host.streams.owner(of: self) }

    /// Sends packets, or closes the connection if its client does not read.
    package func send(_ packets: some Collection<some Collection<UInt8>>) {
        guard let context else { return }
        let count = packets.reduce(0) { $0 + 2 + $1.count }
        guard self.backlog.write(count, now: self.host.now) else { return self.close() }
        var buffer = context.channel.allocator.buffer(capacity: count)
        for packet in packets {
            guard let length = UInt16(exactly: packet.count) else { continue }
            buffer.writeInteger(length)
            buffer.writeBytes(packet)
        }
        context.writeAndFlush(self.wrapOutboundOut(buffer), promise: nil)
    }

    package func close() {
        let context = self.context
        self.context = nil
        context?.close(promise: nil)
    }
}
