import HTTPListener
import HTTPTypes
package import Logging
package import MediaTypes
package import NIOCore

/// The operators' listener, which serves the `/v1` API, the operators' page and the health endpoints.
package final class ControlServer: Sendable {
    private let listener: HTTPListener
    private let work: ControlWork
    private let responder: ControlResponder
    private let tokens: ControlTokens?
    private let leaving: LeavingRoom

    private init(
        listener: HTTPListener, work: ControlWork, responder: ControlResponder, tokens: ControlTokens?,
        leaving: LeavingRoom
    ) {
        self.leaving = leaving
        self.listener = listener
        self.work = work
        self.responder = responder
        self.tokens = tokens
    }

    /// Replaces the access tokens for all later requests. Does nothing if the listener has no tokens.
    package func renewTokens(command: String, reader: String?) { self.tokens?.renew(command: command, reader: reader) }

    /// Carries out a change that no request asked for. Clients see it as a new revision, like the change of a command.
    ///
    /// - Parameter body: Returns whether it has changed something.
    package func carryOut(_ body: () throws(ControlFailure) -> Bool) throws(ControlFailure) {
        try self.responder.carryOut(body)
    }

    /// Largest number of open connections. When ``crowd`` are open, idle connections are closed in favor of new ones,
    /// so that an orchestrator's probe gets through even if other clients hold many connections.
    package static let connections = 256
    package static let crowd = 64
    /// Largest number of connections from one address, if the listener is not on loopback.
    private static let connectionsPerAddress = 128

    /// Address of the listener: `http://127.0.0.1:41234`, or `unix:/path`.
    package var boundAddress: String { self.listener.boundAddress }

    /// Current number of open connections.
    package var connectionCount: Int { self.listener.connectionCount }

    /// Opens the listener.
    ///
    /// - Parameters:
    ///   - token: The bearer token that permits commands, not empty; nil if requests need no token.
    ///   - group: Event loops to use; nil creates one thread for this listener.
    /// - Throws: ``MediaError/Code/bindFailed``; ``MediaError/Code/rejected`` if other machines can connect and there
    ///   is no token.
    package static func start(
        listen: ListenAddress, token: String?, room: any RoomControlling,
        options: ControlListenerOptions = ControlListenerOptions(),
        group: (any EventLoopGroup)? = nil, logger: Logger
    ) async throws(MediaError) -> ControlServer {
        try Self.checkAccess(listen: listen, hasToken: token != nil)
        let tokens = token.map { ControlTokens(command: $0, reader: options.readToken) }
        let origins = ControlOrigins(options.allowOrigins)
        let guardian = AccessGuard(listen: listen, tokens: tokens, opensReads: options.opensReads, origins: origins)
        let responder = ControlResponder(room: room, guardian: guardian, options: options)
        // One rate limit per access level, so that clients without a token cannot use up that of clients with one.
        let budgets = Dictionary(
            uniqueKeysWithValues: AccessGuard.AccessLevel.allCases.map {
                ($0, RequestBudget(perSecond: options.requestsPerSecond, now: Self.now()))
            })
        let limits = HTTPListenerLimits(
            connections: Self.connections, bodyBytes: ControlResponder.bodyLimit,
            connectionsPerAddress: listen.isLoopback ? nil : Self.connectionsPerAddress, crowd: Self.crowd)
        let work = ControlWork()
        let leaving = LeavingRoom()
        let listener: HTTPListener
        do throws(MediaError) {
            listener = try await HTTPListener.start(
                listen: listen, limits: limits, group: group, place: "control", logger: logger
            ) { request, answer in
                let reply = Self.naming(request) { answer(origins.opening($0, to: request.head)) }
                let route = ControlRoute(of: request)
                if let route, request.head.method == .options { return reply(origins.preflight(request.head, route)) }
                // Probes of an orchestrator are answered regardless of the request rate and of other requests in
                // progress.
                if route?.isProbe == true { return reply(responder.reply(to: request, route)) }
                let accessLevel = guardian.accessLevel(of: request.head)
                guard budgets[accessLevel]?.take(now: Self.now()) == true else { return reply(.problem(Self.overrun)) }
                if let refusal = leaving.refusal(of: route) { return reply(.problem(refusal)) }
                let lane = accessLevel == .stranger ? ControlWork.Lane.strangers : Self.lane(request, route)
                guard work.submit(lane, { responder.answer(request, route, reply) }) else {
                    return reply(.problem(Self.standstill))
                }
            }
        } catch {
            work.stop()
            throw error
        }
        // Sets the priority of the listener's own thread.
        if group == nil { listener.eventLoop.execute { ControlWork.yieldToMedia() } }
        return ControlServer(
            listener: listener, work: work, responder: responder, tokens: tokens, leaving: leaving)
    }

    /// The queue for a request. Reads do not wait for commands, except those of the document for its changes. Commands
    /// that need no scene do not wait for those that do.
    private static func lane(_ request: ListenerRequest, _ route: ControlRoute?) -> ControlWork.Lane {
        let isReading = request.head.method == .get || request.head.method == .head
        return switch route {
        case .end, .drain: .leaving
        case .document: .document
        case .room: isReading ? .reads : .document
        case .program, .scene, .countdown, .pk: isReading ? .reads : .scenes
        default: isReading ? .reads : .commands
        }
    }

    private static func now() -> Int64 { Int64(clamping: NIODeadline.now().uptimeNanoseconds) }

    private static let overrun = ControlFailure.limitExceeded(
        "the request rate exceeds the limit",
        fix: "wait as Retry-After says; to follow events, use GET /v1/events instead of polling")

    private static let standstill = ControlFailure.limitExceeded(
        "\(ControlWork.capacity) requests are already waiting for their replies",
        fix: "check whether a disk or file server does not respond")

    private static let requestID = HTTPField.Name("X-Request-Id") ?? .from

    /// Adds X-Request-Id to the reply: the id of the request, or a new one.
    private static func naming(
        _ request: ListenerRequest, _ answer: @escaping @Sendable (ListenerReply) -> Void
    ) -> @Sendable (ListenerReply) -> Void {
        let sent = request.head.headerFields[Self.requestID].flatMap { id in
            (1...128).contains(id.utf8.count) && id.isVisible ? id : nil
        }
        return { reply in
            var reply = reply
            reply.fields[Self.requestID] = sent ?? String(UInt64.random(in: .min ... .max), radix: 16)
            answer(reply)
        }
    }

    /// The access check of ``start(listen:token:room:options:group:logger:)``; also used to validate without starting.
    ///
    /// - Throws: ``MediaError/Code/rejected`` if other machines can connect and there is no token.
    package static func checkAccess(listen: ListenAddress, hasToken: Bool) throws(MediaError) {
        guard !listen.isLoopback, !hasToken else { return }
        throw MediaError(
            .rejected, "\(listen) would let other machines control this room without a token", at: "control",
            fix: "listen on 127.0.0.1 or a unix:/path, or configure a bearer token")
    }

    /// The room has ended, but its viewers are still served. Requests in progress get one second; from now on only
    /// probes, `room:end` and `room:drain` are answered.
    package func leave() {
        self.leaving.begin()
        self.listener.closeConnections(in: .seconds(1))
    }

    /// Accepts no more connections, lets replies in progress finish within `grace`, and closes the rest.
    package func stop(within grace: TimeAmount = .seconds(3)) async {
        await self.listener.stop(within: grace)
        self.work.stop()
    }
}
