import HTTPListener
import HTTPTypes
package import Logging
package import MediaTypes
package import NIOCore

/// The operator's listener: the `/v1` API and the health endpoints.
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

    /// What comes from now on needs these. A listener without tokens stays without: who may reach it is who may use it.
    package func renewTokens(command: String, reader: String?) { self.tokens?.renew(command: command, reader: reader) }

    /// Something other than a request changes what commands change: they are told by its revision, as they are of each other.
    ///
    /// - Parameter body: Tells whether it has changed something.
    package func carryOut(_ body: () throws(ControlFailure) -> Bool) throws(ControlFailure) {
        try self.responder.carryOut(body)
    }

    /// Connections that may be open. From ``crowd`` on those without a request give way, so that an orchestrator's probe gets
    /// in whoever holds the others.
    package static let connections = 256
    package static let crowd = 64
    /// Connections of one address, where others than this machine's own may connect.
    private static let connectionsPerAddress = 128

    /// `http://127.0.0.1:41234`, or `unix:/path`.
    package var boundAddress: String { self.listener.boundAddress }
    /// The port that was bound; `nil` for a Unix socket.
    package var boundPort: Int? { self.listener.boundPort }

    /// Open connections now.
    package var connectionCount: Int { self.listener.connectionCount }

    /// - Parameters:
    ///   - token: The bearer token every `/v1` request must carry; `nil` for none. Not empty.
    ///   - group: Event loops to use; `nil` makes one thread for this listener.
    /// - Throws: ``MediaError/Code/bindFailed``; ``MediaError/Code/rejected`` if other machines could connect and there is
    ///   no token.
    package static func start(
        listen: ListenAddress, token: String?, room: any RoomControlling, doors: ControlDoors = ControlDoors(),
        group: (any EventLoopGroup)? = nil, logger: Logger
    ) async throws(MediaError) -> ControlServer {
        try Self.checkAccess(listen: listen, hasToken: token != nil)
        let tokens = token.map { ControlTokens(command: $0, reader: doors.readToken) }
        let origins = ControlOrigins(doors.allowOrigins)
        let guardian = AccessGuard(listen: listen, tokens: tokens, opensReads: doors.opensReads, origins: origins)
        let responder = ControlResponder(room: room, guardian: guardian, doors: doors)
        // One for each standing: whoever has no token takes nothing from those who have one.
        let budgets = Dictionary(
            uniqueKeysWithValues: AccessGuard.Standing.allCases.map {
                ($0, RequestBudget(perSecond: doors.requestsPerSecond, now: Self.now()))
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
                // An orchestrator's probe is answered however many requests there are, and whatever the others wait for.
                if route?.isProbe == true { return reply(responder.reply(to: request, route)) }
                let standing = guardian.standing(of: request.head)
                guard budgets[standing]?.take(now: Self.now()) == true else { return reply(.problem(Self.overrun)) }
                if let refusal = leaving.refusal(of: route) { return reply(.problem(refusal)) }
                let lane = standing == .stranger ? ControlWork.Lane.strangers : Self.lane(request, route)
                guard work.submit(lane, { responder.answer(request, route, reply) }) else {
                    return reply(.problem(Self.standstill))
                }
            }
        } catch {
            work.stop()
            throw error
        }
        // The listener's own thread.
        if group == nil { listener.eventLoop.execute { ControlWork.yieldToMedia() } }
        return ControlServer(
            listener: listener, work: work, responder: responder, tokens: tokens, leaving: leaving)
    }

    /// Reads wait for no command, and commands that need no scene for none that does.
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
        "there are more requests than this listener answers in a second",
        fix: "wait for Retry-After; events can be followed instead of asked for, at GET /v1/events")

    private static let standstill = ControlFailure.limitExceeded(
        "\(ControlWork.capacity) requests wait for their answers already",
        fix: "see what they wait for: a file on a server that is away, or a disk that hangs")

    private static let requestID = HTTPField.Name("X-Request-Id") ?? .from

    /// The reply bears the id that its request bears, or one that is made for it.
    private static func naming(
        _ request: ListenerRequest, _ answer: @escaping @Sendable (ListenerReply) -> Void
    ) -> @Sendable (ListenerReply) -> Void {
        let sent = request.head.headerFields[Self.requestID].flatMap { id in
            (1...128).contains(id.utf8.count) && id.utf8.allSatisfy { (0x21...0x7e).contains($0) } ? id : nil
        }
        return { reply in
            var reply = reply
            reply.fields[Self.requestID] = sent ?? String(UInt64.random(in: .min ... .max), radix: 16)
            answer(reply)
        }
    }

    /// What ``start(listen:token:room:group:logger:)`` checks first; also for those who validate without starting.
    ///
    /// - Throws: ``MediaError/Code/rejected`` if other machines could connect and there is no token.
    package static func checkAccess(listen: ListenAddress, hasToken: Bool) throws(MediaError) {
        guard !listen.isLoopback, !hasToken else { return }
        throw MediaError(
            .rejected, "\(listen) lets other machines control this room without a token", at: "control",
            fix: "listen on 127.0.0.1 or a unix:/path, or configure a bearer token")
    }

    /// The room is over and its viewers are served on. Requests that have begun get a second; from now on only probes, `room:end`
    /// and `room:drain` are answered.
    package func leave() {
        self.leaving.begin()
        self.listener.closeConnections(in: .seconds(1))
    }

    /// Takes no more connections, lets replies that have begun end within `grace`, closes the rest.
    package func stop(within grace: TimeAmount = .seconds(3)) async {
        await self.listener.stop(within: grace)
        self.work.stop()
    }
}
