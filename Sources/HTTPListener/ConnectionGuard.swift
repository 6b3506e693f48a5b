import NIOCore

/// Counts a connection, and closes it if the peer does not read the bytes that wait for it. The handler sits next to
/// the socket, below TLS.
///
/// It works alike for HTTP/1.1 and HTTP/2: it checks how many bytes wait for the socket, and whether the socket accepts
/// any. The check runs once after a write, and then every second, or more often, until no bytes wait.
final class ConnectionGuard: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let limits: HTTPListenerLimits
    private let connections: OpenConnections
    private let counters: ReplyCounters
    private let pace: TimeAmount
    private var address: String?
    private var isCounted = false
    /// Bytes passed to the socket since the connection was opened.
    private var written = 0
    /// The part of ``written`` that has been added to the listener's total of sent bytes.
    private var counted = 0
    /// The part of ``written`` that the socket had accepted at the last check with enough progress or without waiting
    /// bytes.
    private var taken = 0
    /// Number of checks without enough progress since ``taken`` was last updated.
    private var idleLooks: Int64 = 0
    /// The share of this connection in the listener's total of unsent bytes.
    private var unsent = 0
    private var nextLook: Scheduled<Void>?

    /// Number of bytes that the socket must accept to count as progress, since the last progress: a client that reads one
    /// byte per second makes none.
    private static let leastProgress = 4 << 10

    private let isShared: Bool

    /// - Parameter isShared: Whether many clients share the connection's address, so that its connections are not limited.
    init(limits: HTTPListenerLimits, connections: OpenConnections, counters: ReplyCounters, isShared: Bool) {
        self.isShared = isShared
        self.limits = limits
        self.connections = connections
        self.counters = counters
        self.pace = min(.seconds(1), .nanoseconds(max(limits.stalledWrite.nanoseconds / 4, 1_000_000)))
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        if self.limits.connectionsPerAddress != nil, !self.isShared { self.address = channel.remoteAddress?.ipAddress }
        let admission = self.connections.opened(channel, from: self.address, limits: self.limits)
        self.isCounted = admission.isAdmitted
        let leaving = admission.leaving + (self.isCounted ? [] : [channel])
        guard !leaving.isEmpty else { return }
        context.eventLoop.execute { for other in leaving { other.close(promise: nil) } }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.nextLook?.cancel()
        self.countWritten()
        guard self.isCounted else { return }
        self.isCounted = false
        self.connections.closed(
            context.channel, from: self.address, unsent: self.unsent)
        self.unsent = 0
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        self.written &+= self.unwrapOutboundIn(data).readableBytes
        context.write(data, promise: promise)
        if self.nextLook == nil { self.scheduleLook(context) }
    }

    /// Adds the bytes written since the last call to the listener's total of sent bytes.
    private func countWritten() {
        self.counters.counted(sent: self.written &- self.counted)
        self.counted = self.written
    }

    private func scheduleLook(_ context: ChannelHandlerContext) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        self.nextLook = context.eventLoop.scheduleTask(in: self.pace) {
            let (handler, context) = bound.value
            handler.look(context)
        }
    }

    private func look(_ context: ChannelHandlerContext) {
        self.nextLook = nil
        self.countWritten()
        guard self.isCounted, context.channel.isActive else { return }
        let waiting = (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
        let sum = self.connections.unsentChanged(by: waiting - self.unsent)
        self.unsent = waiting
        guard waiting > 0 else {
            self.taken = self.written
            self.idleLooks = 0
            return
        }
        let taken = self.written &- waiting
        if taken &- self.taken >= Self.leastProgress {
            self.taken = taken
            self.idleLooks = 0
        } else {
            self.idleLooks += 1
        }
        let isStalled = self.idleLooks * self.pace.nanoseconds >= self.limits.stalledWrite.nanoseconds
        // Too many bytes wait in memory: connections that accept nothing are closed before those that do.
        let isTooMuch = sum > self.limits.unsentBytes && self.idleLooks >= 2
        let isInTheWay = self.limits.crowd.map { self.connections.count > $0 && self.idleLooks >= 2 } ?? false
        guard !isStalled, !isTooMuch, !isInTheWay else { return context.close(promise: nil) }
        self.scheduleLook(context)
    }
}
