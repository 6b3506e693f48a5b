import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOPosix
import Threading

/// Serves the requests of one HTTP/1.1 connection, or the one request of an HTTP/2 stream, on the connection's event
/// loop.
///
/// States: *idle* → head → *reading* → complete request → *waiting* for the answer → *opening* a file, if needed →
/// *sending* under back-pressure → *idle*; any → close → *closed*. Invariants: (1) one request at a time; pipelined
/// requests wait in `queue`, and nothing more is read while something waits there; (2) an answer counts only while its
/// own request waits for it; (3) a connection is closed after everything written so far, not in the middle, unless
/// its peer does not read or leaves, an error occurs, or the listener closes all connections.
///
/// A WebSocket takes over its connection (see ``WebSocketHandler``): *sending* → our close frame, or the client's →
/// *idle*, for at most the time allowed for the other close frame → *closed*.
///
/// Handlers behind this one, if any, receive no requests: they belong to Hummingbird's server, which only counts the
/// connections.
final class RequestHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = Never

    private enum State {
        case idle
        case reading(HTTPRequest, RequestBody)
        case waiting(ClientPresence)
        case opening
        case sending(ReplyBody)
        case closed
    }

    private let service: RequestService
    private var writer: ReplyWriter
    private var state = State.idle
    /// Parts of pipelined requests that wait until the current request has been answered. No memory is reserved in
    /// advance, because an element is as large as a request's head.
    private var queue: [HTTPRequestPart] = []
    private var isDraining = false
    /// True if NIO requested a read while the queue was not empty; the read follows when the queue is empty.
    private var isReadHeld = false
    /// True once the HTTP parser delivers nothing more, as after a request to change the protocol. It would buffer
    /// everything that arrives, so nothing more is read.
    private var isParserDone = false
    /// Number of the current request on this connection; an answer to an earlier number is ignored.
    private var number: UInt64 = 0
    private var isHead = false
    private var holdsFilePiece = false
    /// The row of the current reply in the listener's counters.
    private var counterRow = 0
    /// True if no request follows the current one, so that the connection closes after the reply.
    private var isLast = false
    /// True if the end of the reply must not be written: the encoder of a TLS connection uses chunked encoding for a
    /// reply without a length, and would write the last chunk after a head without a body.
    private var hasNoEnd = false
    /// Number of replies that are written but not yet accepted by the kernel.
    private var unflushed = 0
    private var isStream = false
    /// Whether the listener counts a request of this connection or stream.
    private var hasRequest = false
    /// Time at which the connection or stream is closed if nothing happens; `nil`: no deadline.
    private var deadline: NIODeadline?
    /// Timer that checks the deadline, possibly earlier than needed: most deadlines are moved later, which then costs
    /// no new timer.
    private var timer: (at: NIODeadline, task: Scheduled<Void>)?

    init(_ service: RequestService, writer: ReplyWriter) {
        self.service = service
        self.writer = writer
    }

    // MARK: The channel

    func handlerAdded(context: ChannelHandlerContext) {
        // The parent of a stream is the connection. The parent of a connection is the listening socket, which has none.
        self.isStream = context.channel.parent?.parent != nil
        self.setDeadline(self.service.limits.idle, context)
    }

    func handlerRemoved(context: ChannelHandlerContext) { self.ended(context) }

    func channelInactive(context: ChannelHandlerContext) {
        self.ended(context)
        context.fireChannelInactive()
    }

    func read(context: ChannelHandlerContext) {
        if self.queue.isEmpty, !self.isParserDone { context.read() } else { self.isReadHeld = true }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = self.unwrapInboundIn(data)
        if self.isDraining || !self.queue.isEmpty || !self.takesInput {
            self.queue.append(part)
            self.drain(context)
        } else {
            // The queue is drained afterwards, as after each part that is taken from it.
            self.isDraining = true
            self.take(part, context)
            self.isDraining = false
            self.drain(context)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? HTTPParserError else { return self.close(context) }
        self.isParserDone = true
        self.isLast = true
        switch self.state {
        case .idle, .reading:
            self.isHead = false
            // RFC 9110 §9.1: 501 for a method that the parser does not know; for known methods the resource may answer
            // 405. Data that does not begin with a method is not HTTP.
            let hasMethod = (try? context.pipeline.syncOperations.handler(type: MethodReader.self))?.hasMethod
            let isUnknown = error == .invalidMethod && hasMethod == true
            self.begin(ListenerReply(isUnknown ? .notImplemented : .badRequest), context)
        case .waiting, .opening, .sending, .closed: break
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case let event as ChannelEvent where event == .inputClosed:
            // The end of a stream's input is only the end of its request.
            if !self.isStream { self.inputClosed(context) }
        case is ChannelShouldQuiesceEvent:
            self.isLast = true
            if case .idle = self.state { self.closeOnceFlushed(context) }
        case is WebSocketHandler.Ended: self.socketEnded(context)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { self.send(context) }
        context.fireChannelWritabilityChanged()
    }

    private func inputClosed(_ context: ChannelHandlerContext) {
        self.isLast = true
        switch self.state {
        // A client that closes its side while it waits is treated as gone.
        case .waiting, .reading: self.close(context)
        case .idle: self.closeOnceFlushed(context)
        case .sending(let body): if body.stream != nil { self.close(context) }
        case .opening, .closed: break
        }
    }

    private func ended(_ context: ChannelHandlerContext) {
        self.note(hasRequest: false, context)
        self.deadline = nil
        self.timer?.task.cancel()
        self.timer = nil
        self.giveFilePieceBack()
        let state = self.state
        self.state = .closed
        self.queue.removeAll()
        switch state {
        case .waiting(let client): client.leave()
        case .sending(let body): body.stream?.cancel()
        default: break
        }
    }

    private func close(_ context: ChannelHandlerContext) {
        self.ended(context)
        context.close(promise: nil)
    }

    private func closeOnceFlushed(_ context: ChannelHandlerContext) {
        switch self.writer {
        case .bytes: break
        case .parts:
            if self.unflushed == 0 { self.close(context) }
            return
        // Our close frame has been written, and the client has a deadline for its own.
        case .frames: return
        }
        // Writes are in order, so an empty write after everything completes when all has been sent.
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let flushed = context.eventLoop.makePromise(of: Void.self)
        flushed.futureResult.whenComplete { _ in
            let (handler, context) = bound.value
            if case .idle = handler.state { handler.close(context) }
        }
        context.writeAndFlush(NIOAny(ByteBuffer()), promise: flushed)
    }

    private func setDeadline(_ time: TimeAmount, _ context: ChannelHandlerContext) {
        let deadline = NIODeadline.now() + time
        self.deadline = deadline
        if let timer = self.timer {
            guard timer.at > deadline else { return }
            timer.task.cancel()
        }
        self.startTimer(deadline, context)
    }

    private func startTimer(_ time: NIODeadline, _ context: ChannelHandlerContext) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let task = context.eventLoop.scheduleTask(deadline: time) {
            let (handler, context) = bound.value
            handler.timer = nil
            guard let deadline = handler.deadline else { return }
            if deadline <= .now() { handler.close(context) } else { handler.startTimer(deadline, context) }
        }
        self.timer = (time, task)
    }

    // MARK: Requests

    private func drain(_ context: ChannelHandlerContext) {
        guard !self.isDraining else { return }
        self.isDraining = true
        defer { self.isDraining = false }
        var taken = 0
        while taken < self.queue.count, self.takesInput {
            taken += 1
            self.take(self.queue[taken - 1], context)
        }
        // The queue may have been emptied by a close in the meantime.
        self.queue.removeFirst(min(taken, self.queue.count))
        if self.isLast, case .idle = self.state { self.queue.removeAll() }
        self.readOn(context)
    }

    private func readOn(_ context: ChannelHandlerContext) {
        guard self.isReadHeld, self.queue.isEmpty, !self.isParserDone else { return }
        self.isReadHeld = false
        context.read()
    }

    private var takesInput: Bool {
        switch self.state {
        case .idle: !self.isLast
        case .reading: true
        case .waiting, .opening, .sending, .closed: false
        }
    }

    private func take(_ part: HTTPRequestPart, _ context: ChannelHandlerContext) {
        switch (self.state, part) {
        case (.idle, .head(let head)):
            var body = RequestBody(limit: self.service.limits.bodyBytes)
            body.announced(head.headerFields[.contentLength])
            self.setDeadline(self.service.limits.idle, context)
            if body.isTooLarge { return self.answer(head, body, context) }
            if head.headerFields[.expect]?.lowercased() == "100-continue" {
                self.writer.carryOn(context)
            }
            self.state = .reading(head, body)
        case (.reading(let head, var body), .body(let bytes)):
            self.state = .idle
            body.append(bytes)
            if body.isTooLarge { return self.answer(head, body, context) }
            self.state = .reading(head, body)
        case (.reading(let head, let body), .end): self.answer(head, body, context)
        // The remainder of a body that was too large.
        default: break
        }
    }

    /// The address that a proxy has named for this connection, or that of the connection.
    private func clientAddress(_ context: ChannelHandlerContext) -> SocketAddress? {
        let own = context.channel.remoteAddress
        guard self.service.proxies != nil else { return own }
        let connection = self.isStream ? context.channel.parent : context.channel
        let handler = try? connection?.pipeline.syncOperations.handler(type: ProxiedClientHandler.self)
        return handler?.client ?? own
    }

    private func note(hasRequest: Bool, _ context: ChannelHandlerContext) {
        guard hasRequest != self.hasRequest else { return }
        self.hasRequest = hasRequest
        let connection = self.isStream ? context.channel.parent : context.channel
        if let connection { self.service.note(connection, hasRequest: hasRequest) }
    }

    private func answer(_ head: HTTPRequest, _ body: RequestBody, _ context: ChannelHandlerContext) {
        self.deadline = nil
        self.note(hasRequest: true, context)
        let client = ClientPresence(eventLoop: context.eventLoop, remoteAddress: self.clientAddress(context))
        self.state = .waiting(client)
        self.number &+= 1
        self.isHead = head.method == .head
        // After such a request NIO's parser expects another protocol, and would buffer what arrives meanwhile.
        if !self.isStream, head.method == .connect || head.headerFields[.upgrade] != nil {
            self.isParserDone = true
            self.isLast = true
        }
        if body.isTooLarge || head.headerFields[.connection]?.lowercased() == "close" { self.isLast = true }
        let (number, loop, gate) = (self.number, context.eventLoop, self.service.gate)
        let bound = NIOLoopBound((self, context), eventLoop: loop)
        let request = ListenerRequest(head: head, body: body.value, client: client)
        self.service.respond(request) { reply in
            if loop.inEventLoop {
                bound.value.0.answered(number, reply, bound.value.1)
            } else {
                let isPassed = gate.pass { loop.execute { bound.value.0.answered(number, reply, bound.value.1) } }
                if !isPassed { reply.body.producer?.cancel() }
            }
        }
    }

    private func answered(_ number: UInt64, _ reply: ListenerReply, _ context: ChannelHandlerContext) {
        guard number == self.number, case .waiting(let client) = self.state else {
            reply.body.producer?.cancel()
            return
        }
        client.forget()
        self.begin(reply, context)
    }

    // MARK: Replies

    /// Header fields that an error reply takes over from the reply it replaces: mainly the CORS fields, which let pages
    /// of other origins read the reply. Without them a web player sees no status, and does not retry.
    private static let lasting: [HTTPField.Name] = [
        .accessControlAllowOrigin, .accessControlExposeHeaders, .vary, .xContentTypeOptions,
    ]

    private static func instead(of reply: ListenerReply, _ other: ListenerReply) -> ListenerReply {
        var other = other
        for name in Self.lasting { other.fields[name] = reply.fields[name] }
        other.fields[.cacheControl] = "no-store"
        return other
    }

    private static func busy(insteadOf reply: ListenerReply) -> ListenerReply {
        Self.instead(
            of: reply, .plain(.serviceUnavailable, "too many concurrent downloads", fields: [.retryAfter: "1"]))
    }

    private func begin(_ reply: ListenerReply, _ context: ChannelHandlerContext) {
        if reply.isSocket, self.isStream {
            reply.body.producer?.cancel()
            return self.sendHead(.plain(.badRequest, "WebSocket connections require HTTP/1.1"), nil, context)
        }
        guard case .file(let path, let size, _) = reply.body else { return self.sendHead(reply, nil, context) }
        guard self.service.takeFilePiece() else { return self.sendHead(Self.busy(insteadOf: reply), nil, context) }
        self.holdsFilePiece = true
        let pieces = self.service.pieces
        if let file = pieces.file(path, size: size, now: .now()) { return self.sendHead(reply, file, context) }
        let files = self.service.files
        guard files.take() else { return self.sendHead(Self.busy(insteadOf: reply), nil, context) }
        self.state = .opening
        self.onPool(context, { files.opened(path) }) { handler, file, context in
            if let file {
                if pieces.opened(file, path: path) { pieces.tidy(on: context.eventLoop) }
                return handler.sendHead(reply, file, context)
            }
            // The segment was removed from the playlist window after the lookup: the same answer as a moment later.
            handler.sendHead(Self.instead(of: reply, .plain(.notFound, "no such object")), nil, context)
        }
    }

    private func sendHead(_ reply: ListenerReply, _ file: ServedFile?, _ context: ChannelHandlerContext) {
        self.counterRow = self.service.counters.counted(reply.status)
        if !reply.hasLength { self.isLast = true }
        self.hasNoEnd = !reply.hasLength && self.isHead && !self.isStream
        let closes = self.isLast && !self.isStream && !reply.isSocket
        self.writer.head(reply, closes: closes, date: self.service.date, context)
        if reply.isSocket, !self.openSocket(context) {
            reply.body.producer?.cancel()
            return self.close(context)
        }
        let hasBody = reply.isSocket || !self.isHead && reply.status.mayHaveBody
        if !hasBody { reply.body.producer?.cancel() }
        let body = ReplyBody(hasBody ? reply.body : .none, file: file)
        self.state = .sending(body)
        if let stream = body.stream {
            let (loop, gate) = (context.eventLoop, self.service.gate)
            let bound = NIOLoopBound((self, context), eventLoop: loop)
            stream.whenMore { gate.pass { loop.execute { bound.value.0.send(bound.value.1) } } }
        }
        self.send(context)
    }

    /// Writes as much of the body as the channel accepts.
    private func send(_ context: ChannelHandlerContext) {
        guard case .sending(var body) = self.state else { return }
        var sent = 0
        let row = self.counterRow
        defer { self.service.counters.counted(bytes: sent, row: row) }
        while context.channel.isWritable {
            switch body.next() {
            case .bytes(let bytes):
                sent += bytes.readableBytes
                self.writer.body(bytes, context)
            case .file(let file, let range):
                if let bytes = self.service.pieces.bytes(of: file, range) {
                    sent += bytes.readableBytes
                    self.writer.body(bytes, context)
                    continue
                }
                self.state = .opening
                self.deadline = nil
                context.flush()
                return self.read(file, range, then: body, context)
            case .later:
                self.state = .sending(body)
                self.deadline = nil
                return context.flush()
            case .tooSlow:
                body.stream?.cancel()
                return self.finish(context, WebSocketSession.Code.policyViolation)
            case nil:
                body.stream?.cancel()
                return self.finish(context)
            }
        }
        self.state = .sending(body)
        context.flush()
        // For a connection, `ConnectionGuard` checks for stalled writes. Flushing may have sent more.
        if self.isStream, case .sending = self.state, !context.channel.isWritable {
            self.setDeadline(self.service.limits.stalledWrite, context)
        }
    }

    private func read(
        _ file: ServedFile, _ range: Range<Int>, then rest: ReplyBody, _ context: ChannelHandlerContext
    ) {
        self.onPool(context, { file.read(at: range.lowerBound, count: range.count) }) { handler, bytes, context in
            // The length has been announced, so only a close tells the client that the body is incomplete.
            guard let bytes else { return handler.close(context) }
            handler.service.pieces.read(bytes, of: file, range)
            handler.service.counters.counted(bytes: bytes.readableBytes, row: handler.counterRow)
            handler.writer.body(bytes, context)
            handler.state = .sending(rest)
            handler.send(context)
        }
    }

    /// Runs blocking work on the thread pool, then continues here if the connection is still open.
    private func onPool<Value: Sendable>(
        _ context: ChannelHandlerContext, _ work: @escaping @Sendable () -> Value?,
        _ then: @escaping (RequestHandler, Value?, ChannelHandlerContext) -> Void
    ) {
        let (loop, gate) = (context.eventLoop, self.service.gate)
        let bound = NIOLoopBound((self, context, then), eventLoop: loop)
        NIOThreadPool.singleton.submit { state in
            let value = state == .active ? work() : nil
            gate.pass {
                loop.execute {
                    let (handler, context, then) = bound.value
                    guard case .opening = handler.state else { return }
                    then(handler, value, context)
                }
            }
        }
    }

    /// Ends the current reply, or closes the WebSocket.
    ///
    /// - Parameter code: Status code of the close frame, for a WebSocket.
    private func finish(_ context: ChannelHandlerContext, _ code: UInt16 = WebSocketSession.Code.normal) {
        self.giveFilePieceBack()
        self.state = .idle
        self.note(hasRequest: false, context)
        if self.isStream {
            self.deadline = nil
        } else {
            self.setDeadline(self.service.limits.idle, context)
        }
        switch self.writer {
        case .bytes:
            context.flush()
            // Flushing may have closed the connection, or begun the next reply.
            if self.isLast, case .idle = self.state { self.closeOnceFlushed(context) }
        case .parts: self.writeEnd(context)
        case .frames(let socket): self.close(socket, code, context)
        }
        self.drain(context)
    }

    private func writeEnd(_ context: ChannelHandlerContext) {
        self.unflushed += 1
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let flushed = context.eventLoop.makePromise(of: Void.self)
        flushed.futureResult.whenComplete { _ in
            let (handler, context) = bound.value
            handler.unflushed -= 1
            if handler.isLast, case .idle = handler.state { handler.closeOnceFlushed(context) }
        }
        let end: HTTPResponsePart = self.hasNoEnd ? .body(ByteBuffer()) : .end(nil)
        context.writeAndFlush(NIOAny(end), promise: flushed)
    }

    // MARK: WebSockets

    /// Switches the connection to WebSocket frames in both directions.
    private func openSocket(_ context: ChannelHandlerContext) -> Bool {
        guard let socket = try? WebSocketHandler.added(to: context.pipeline.syncOperations) else { return false }
        self.writer = .frames(socket)
        self.isParserDone = false
        self.readOn(context)
        return true
    }

    /// Sends the server's close frame. When it has been sent, the client has a limited time to answer with its own.
    private func close(_ socket: WebSocketHandler, _ code: UInt16, _ context: ChannelHandlerContext) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let flushed = context.eventLoop.makePromise(of: Void.self)
        flushed.futureResult.whenComplete { _ in
            let (handler, context) = bound.value
            if case .idle = handler.state { handler.setDeadline(WebSocketHandler.patience, context) }
        }
        socket.end(code, promise: flushed)
    }

    /// Handles the end of a WebSocket: the client has closed it or violated the protocol.
    private func socketEnded(_ context: ChannelHandlerContext) {
        guard case .sending(let body) = self.state else { return }
        body.stream?.cancel()
        self.state = .idle
        self.note(hasRequest: false, context)
        self.setDeadline(WebSocketHandler.patience, context)
    }

    private func giveFilePieceBack() {
        guard self.holdsFilePiece else { return }
        self.holdsFilePiece = false
        self.service.giveFilePieceBack()
    }
}
