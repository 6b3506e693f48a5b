import NIOCore
import NIOSSL
import NIOWebSocket

/// Takes over a connection after the WebSocket handshake. The handler sits between the socket and the HTTP/1.1
/// handlers: those receive nothing any more, and outgoing frames bypass them.
///
/// The HTTP handlers stay in the pipeline, idle. Removing them would pass on data that the HTTP parser has read ahead
/// to handlers that expect only bytes. Such data exists only if the client did not wait for our answer, as it must (RFC
/// 6455 §4.1); it is dropped.
final class WebSocketHandler: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    /// Event for the request handler: only the close frame is still sent, because the client has closed the WebSocket or
    /// violated the protocol.
    struct Ended {}

    /// Time that the client has for its close frame after the server has sent one.
    static let patience = TimeAmount.seconds(2)
    /// Maximum size of a client's frame in bytes: control frames have at most 125, and others are not used.
    private static let maxFrameSize = 1_024

    private var session = WebSocketSession()
    private var context: ChannelHandlerContext?
    /// Payload of the last unanswered ping: at most one is kept, however many arrive.
    private var pong: ByteBuffer?

    /// Installs the WebSocket handlers after the head of the reply has been written; from then on the connection reads
    /// frames.
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

    // MARK: Sending

    /// Writes one binary frame; does nothing after a close frame.
    func send(_ payload: ByteBuffer) {
        guard self.session.isOpen else { return }
        self.write(.binary, payload, promise: nil)
    }

    /// Writes a close frame and flushes; the caller waits for the client's close frame.
    ///
    /// - Parameter promise: Succeeds when the kernel has accepted the frame, or if there is none to send; fails if the
    ///   connection is closed before.
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

    // MARK: Receiving

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.perform(self.session.received(self.unwrapInboundIn(data)), context)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case let error as NIOWebSocketError: self.perform(self.session.failed(error), context)
        // Data after an invalid frame.
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
            // Reported first, so that nothing more is prepared for this client.
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
