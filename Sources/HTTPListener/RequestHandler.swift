import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOPosix
import Stages

/// Serves the requests of one HTTP/1.1 connection, or the one request of an HTTP/2 stream, on the connection's event loop.
///
/// States: *idle* → head → *reading* → whole request → *waiting* for the answer → *opening* a file, if it is one →
/// *sending* under back-pressure → *idle*; from each, a close → *closed*. Invariants: (1) one request at a time; what a
/// client sends ahead waits in `queue`, and no more is read while something waits there; (2) an answer counts only while
/// its own request is waited for; (3) a connection is closed after what was written, never in the middle of it, unless
/// its peer does not take it.
///
/// A WebSocket takes its connection over (see ``WebSocketHandler``): *sending* → our close frame, or the client's → *idle*, for
/// no longer than the close frame that is missing may take → *closed*.
///
/// Nothing reaches the handlers behind this one, where there are any, but the end of the channel: Hummingbird's server, which
/// they belong to, only keeps count of the connections.
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
    /// Without room until something waits: an element is as large as a request's head.
    private var queue: [HTTPRequestPart] = []
    private var isDraining = false
    /// A read was asked for while something waited in the queue.
    private var isReadHeld = false
    /// HTTP's parser hands on nothing more and would keep all that comes: so nothing more is read.
    private var isParserDone = false
    /// Of the request that is being answered.
    private var number: UInt64 = 0
    private var isHead = false
    private var holdsFilePiece = false
    /// No request follows the one that is being answered.
    private var isLast = false
    /// Nothing may end the reply: the encoder of a TLS connection takes one without a length for chunks, and would write the
    /// last of them behind a head alone.
    private var hasNoEnd = false
    /// Replies that are written and not yet with the kernel.
    private var unflushed = 0
    private var isStream = false
    /// When the connection or stream is closed; `nil`: not at all.
    private var deadline: NIODeadline?
    /// Looks at the deadline at this time, or later than it was set: most deadlines are put off, which costs no timer.
    private var timer: (at: NIODeadline, task: Scheduled<Void>)?

    init(_ service: RequestService, writer: ReplyWriter) {
        self.service = service
        self.writer = writer
    }

    // MARK: The channel

    func handlerAdded(context: ChannelHandlerContext) {
        // A stream's parent is the connection, a connection's the listening socket, which has none.
        self.isStream = context.channel.parent?.parent != nil
        self.setDeadline(self.service.limits.idle, context)
    }

    func handlerRemoved(context: ChannelHandlerContext) { self.ended() }

    func channelInactive(context: ChannelHandlerContext) {
        self.ended()
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
            // The queue is checked afterwards, as after each part that comes from it.
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
            // RFC 9110 §9.1: a method that the parser does not know; to those that it knows a resource says 405. What does not
            // begin like a method is no HTTP.
            let hasMethod = (try? context.pipeline.syncOperations.handler(type: MethodReader.self))?.hasMethod
            let isUnknown = error == .invalidMethod && hasMethod == true
            self.begin(ListenerReply(isUnknown ? .notImplemented : .badRequest), context)
        case .waiting, .opening, .sending, .closed: break
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case let event as ChannelEvent where event == .inputClosed:
            // The end of a stream's input is the end of its request, nothing more.
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
        // A client that waits and says that it will never ask again is taken as gone.
        case .waiting, .reading: self.close(context)
        case .idle: self.closeOnceFlushed(context)
        case .sending(let body): if body.stream != nil { self.close(context) }
        case .opening, .closed: break
        }
    }

    private func ended() {
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
        self.ended()
        context.close(promise: nil)
    }

    private func closeOnceFlushed(_ context: ChannelHandlerContext) {
        switch self.writer {
        case .bytes: break
        case .parts:
            if self.unflushed == 0 { self.close(context) }
            return
        // Our close frame is on its way, and the client has a deadline for its own.
        case .frames: return
        }
        // Written in order: nothing, after everything, tells when all of it has left.
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
        // A close has emptied it in the meantime.
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
        // What follows a body that was too large.
        default: break
        }
    }

    private func answer(_ head: HTTPRequest, _ body: RequestBody, _ context: ChannelHandlerContext) {
        self.deadline = nil
        self.service.note(context.channel, hasRequest: true)
        let client = ClientPresence(eventLoop: context.eventLoop)
        self.state = .waiting(client)
        self.number &+= 1
        self.isHead = head.method == .head
        // Behind these NIO's parser waits for another protocol, and gathers what comes meanwhile.
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
                gate.pass { loop.execute { bound.value.0.answered(number, reply, bound.value.1) } }
            }
        }
    }

    private func answered(_ number: UInt64, _ reply: ListenerReply, _ context: ChannelHandlerContext) {
        guard number == self.number, case .waiting(let client) = self.state else { return }
        client.forget()
        self.begin(reply, context)
    }

    // MARK: Replies

    /// Fields of a reply that the one in its place has, too: whether pages of other origins may read it. To those that may not
    /// it has no status, and their players do not try again.
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
            of: reply, .plain(.serviceUnavailable, "too many readers", fields: [.retryAfter: "1"]))
    }

    private func begin(_ reply: ListenerReply, _ context: ChannelHandlerContext) {
        if reply.isSocket, self.isStream {
            return self.sendHead(.plain(.badRequest, "a WebSocket is opened over HTTP/1.1"), nil, context)
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
            // A segment that left the window between the look-up and now: the same answer as a moment later.
            handler.sendHead(Self.instead(of: reply, .plain(.notFound, "no such object")), nil, context)
        }
    }

    private func sendHead(_ reply: ListenerReply, _ file: ServedFile?, _ context: ChannelHandlerContext) {
        if !reply.hasLength { self.isLast = true }
        self.hasNoEnd = !reply.hasLength && self.isHead && !self.isStream
        let closes = self.isLast && !self.isStream && !reply.isSocket
        self.writer.head(reply, closes: closes, date: self.service.date, context)
        if reply.isSocket, !self.openSocket(context) { return self.close(context) }
        let hasBody = reply.isSocket || !self.isHead && reply.status.mayHaveBody
        let body = ReplyBody(hasBody ? reply.body : .none, file: file)
        self.state = .sending(body)
        if let stream = body.stream {
            let (loop, gate) = (context.eventLoop, self.service.gate)
            let bound = NIOLoopBound((self, context), eventLoop: loop)
            stream.whenMore { gate.pass { loop.execute { bound.value.0.send(bound.value.1) } } }
        }
        self.send(context)
    }

    /// Writes what the channel takes.
    private func send(_ context: ChannelHandlerContext) {
        guard case .sending(var body) = self.state else { return }
        while context.channel.isWritable {
            switch body.next() {
            case .bytes(let bytes): self.writer.body(bytes, context)
            case .file(let file, let range):
                if let bytes = self.service.pieces.bytes(of: file, range) {
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
        // A connection's own deadline is kept at its socket. Flushing may have sent more.
        if self.isStream, case .sending = self.state, !context.channel.isWritable {
            self.setDeadline(self.service.limits.stalledWrite, context)
        }
    }

    private func read(
        _ file: ServedFile, _ range: Range<Int>, then rest: ReplyBody, _ context: ChannelHandlerContext
    ) {
        self.onPool(context, { file.read(at: range.lowerBound, count: range.count) }) { handler, bytes, context in
            // The length is promised: only closing tells the client that it is not kept.
            guard let bytes else { return handler.close(context) }
            handler.service.pieces.read(bytes, of: file, range)
            handler.writer.body(bytes, context)
            handler.state = .sending(rest)
            handler.send(context)
        }
    }

    /// Does what may block elsewhere, then goes on here if the connection is still there.
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

    /// - Parameter code: Says why, over a WebSocket.
    private func finish(_ context: ChannelHandlerContext, _ code: UInt16 = WebSocketSession.Code.normal) {
        self.giveFilePieceBack()
        self.state = .idle
        self.service.note(context.channel, hasRequest: false)
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

    /// From here on what is read and written are frames.
    private func openSocket(_ context: ChannelHandlerContext) -> Bool {
        guard let socket = try? WebSocketHandler.added(to: context.pipeline.syncOperations) else { return false }
        self.writer = .frames(socket)
        self.isParserDone = false
        self.readOn(context)
        return true
    }

    /// Nothing more to send: once the client has all of it, it has a moment for its own close frame.
    private func close(_ socket: WebSocketHandler, _ code: UInt16, _ context: ChannelHandlerContext) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let flushed = context.eventLoop.makePromise(of: Void.self)
        flushed.futureResult.whenComplete { _ in
            let (handler, context) = bound.value
            if case .idle = handler.state { handler.setDeadline(WebSocketHandler.patience, context) }
        }
        socket.end(code, promise: flushed)
    }

    /// The client has closed, or is not one of this protocol.
    private func socketEnded(_ context: ChannelHandlerContext) {
        guard case .sending(let body) = self.state else { return }
        body.stream?.cancel()
        self.state = .idle
        self.service.note(context.channel, hasRequest: false)
        self.setDeadline(WebSocketHandler.patience, context)
    }

    private func giveFilePieceBack() {
        guard self.holdsFilePiece else { return }
        self.holdsFilePiece = false
        self.service.giveFilePieceBack()
    }
}
