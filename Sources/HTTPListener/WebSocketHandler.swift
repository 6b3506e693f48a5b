import NIOCore
import NIOSSL
import NIOWebSocket

/// From the handshake of a WebSocket on, stands between the connection's bytes and its handlers of HTTP/1.1: to those nothing
/// comes any more, and what is sent goes past them.
///
/// They stay where they are, idle. To take them out would be to hand on what HTTP's parser had read ahead, past handlers
/// that take anything but bytes for a mistake of ours; and there is none of it but from a client that did not wait for our
/// answer, as it must (RFC 6455 §4.1): that is dropped.
final class WebSocketHandler: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    /// The request handler's to hear: no frame is sent any more, since the client has closed or broken the rules.
    struct Ended {}

    /// Time for the client's close frame after ours.
    static let patience = TimeAmount.seconds(2)
    /// Bytes of a client's frame: a control frame's are 125 at most, and of others nothing is wanted.
    private static let maxFrameSize = 1_024

    private var session = WebSocketSession()
    private var context: ChannelHandlerContext?
    /// What the last ping held that is not answered yet: at most one, however many come.
    private var pong: ByteBuffer?

    /// Takes the connection over: what is read from here on are frames. The head of the reply is written.
    static func added(to pipeline: ChannelPipeline.SynchronousOperations) throws -> WebSocketHandler {
        let handler = WebSocketHandler()
        let handlers: [any ChannelHandler] = [
            WebSocketFrameEncoder(), ByteToMessageHandler(WebSocketFrameDecoder(maxFrameSize: Self.maxFrameSize)),
            handler,
        ]
        if let security = try? pipeline.handler(type: NIOSSLServerHandler.self) {
            try pipeline.addHandlers(handlers, position: .after(security))
        } else {
            try pipeline.addHandlers(handlers, position: .after(pipeline.handler(type: ConnectionGuard.self)))
        }
        return handler
    }

    // MARK: The server's side

    /// Writes one binary frame; nothing after a close frame.
    func send(_ payload: ByteBuffer) {
        guard self.session.isOpen else { return }
        self.write(.binary, payload, promise: nil)
    }

    /// Writes a close frame and flushes; the client's is waited for by whoever calls.
    ///
    /// - Parameter promise: Succeeds when the frame is with the kernel, or there is none to be sent.
    func end(_ code: UInt16, promise: EventLoopPromise<Void>) {
        guard self.session.end() else { return promise.succeed() }
        self.writeClose(code, promise: promise)
    }

    private func write(_ opcode: WebSocketOpcode, _ payload: ByteBuffer, promise: EventLoopPromise<Void>?) {
        guard let context = self.context else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        context.write(self.wrapOutboundOut(WebSocketFrame(fin: true, opcode: opcode, data: payload)), promise: promise)
    }

    private func writeClose(_ code: UInt16?, promise: EventLoopPromise<Void>?) {
        self.pong = nil
        var payload = ByteBuffer()
        if let code { payload.writeInteger(code) }
        self.write(.connectionClose, payload, promise: promise)
        self.context?.flush()
    }

    // MARK: The client's side

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.perform(self.session.received(self.unwrapInboundIn(data)), context)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case let error as NIOWebSocketError: self.perform(self.session.failed(error), context)
        // What comes behind something that was no frame.
        case is ByteToMessageDecoderError: break
        default: context.fireErrorCaught(error)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        self.answerPing(context)
        context.fireChannelReadComplete()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        self.answerPing(context)
        context.fireChannelWritabilityChanged()
    }

    private func answerPing(_ context: ChannelHandlerContext) {
        guard let pong = self.pong, self.session.isOpen, context.channel.isWritable else { return }
        self.pong = nil
        self.write(.pong, pong, promise: nil)
        context.flush()
    }

    private func perform(_ action: WebSocketSession.Action, _ context: ChannelHandlerContext) {
        switch action {
        case .nothing: break
        case .pong(let payload): self.pong = payload
        case .fail(let code):
            // Told first, so that nothing more is made ready for this client.
            context.fireUserInboundEventTriggered(Ended())
            self.writeClose(code, promise: nil)
        case .answerClose(let code):
            context.fireUserInboundEventTriggered(Ended())
            let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
            let flushed = context.eventLoop.makePromise(of: Void.self)
            flushed.futureResult.whenComplete { _ in bound.value.close(promise: nil) }
            self.writeClose(code, promise: flushed)
        case .disconnect: context.close(promise: nil)
        }
    }
}
