import NIOCore
import NIOHTTPTypes

/// Closes a connection whose peer holds it without using it: a request that does not become complete, a reply of
/// which nothing is taken. (A connection between requests is closed by HummingbirdCore's idle timeout.)
final class ConnectionDeadlineHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let limits: HTTPListenerLimits
    private let connections: OpenConnections
    private var requestDeadline: Scheduled<Void>?
    private var writeDeadline: Scheduled<Void>?
    private var pendingWrites = 0

    init(limits: HTTPListenerLimits, connections: OpenConnections) {
        self.limits = limits
        self.connections = connections
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.connections.opened(context.channel)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.requestDeadline?.cancel()
        self.writeDeadline?.cancel()
        self.connections.closed(context.channel)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch self.unwrapInboundIn(data) {
        case .head:
            self.requestDeadline?.cancel()
            self.requestDeadline = Self.closing(context, after: self.limits.idle)
        case .body: break
        case .end:
            self.requestDeadline?.cancel()
            self.requestDeadline = nil
        }
        context.fireChannelRead(data)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // A client that waits and says that it will never ask again is taken as gone.
        if event as? ChannelEvent == .inputClosed { self.connections.client(of: context.channel).leave() }
        context.fireUserInboundEventTriggered(event)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let written = promise ?? context.eventLoop.makePromise(of: Void.self)
        self.pendingWrites += 1
        if self.writeDeadline == nil { self.writeDeadline = Self.closing(context, after: self.limits.stalledWrite) }
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        written.futureResult.whenComplete { _ in
            let (handler, context) = bound.value
            handler.writeCompleted(context)
        }
        context.write(data, promise: written)
    }

    /// Every completed write is progress: the next one has the whole time again.
    private func writeCompleted(_ context: ChannelHandlerContext) {
        self.pendingWrites -= 1
        self.writeDeadline?.cancel()
        self.writeDeadline =
            self.pendingWrites > 0 && context.channel.isActive
            ? Self.closing(context, after: self.limits.stalledWrite) : nil
    }

    private static func closing(_ context: ChannelHandlerContext, after time: TimeAmount) -> Scheduled<Void> {
        let channel = context.channel
        return context.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
    }
}
