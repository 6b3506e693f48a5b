import Events
import HTTPListener
import HTTPTypes
import NIOCore
import Synchronization

/// A request for events that waits: `GET /v1/events` with `waitSeconds`, or as server-sent events.
///
/// `after=N` is the number of the last event that the client has (default: before the oldest kept event), `limit=N` the
/// maximum number of events, and `waitSeconds=N` how long to wait if there are none. With `Accept: text/event-stream`
/// the reply continues with new events, and `Last-Event-ID` says where a reconnecting client continues.
///
/// Spec: WHATWG HTML, "Server-sent events".
struct EventRequest {
    private static let keys = ["after", "limit", "waitSeconds"]
    private static let mostEvents = 1024
    /// Longest wait in seconds. Intermediaries close idle connections after a minute at the earliest.
    private static let longestWait = 25

    private enum Kind {
        case page(EventQuery, waitSeconds: Int)
        case stream(after: Int64)
    }

    private let kind: Kind

    /// Makes the request; nil if it does not wait. An invalid request is refused by ``reply(_:from:)``.
    init?(_ request: ListenerRequest, _ route: ControlRoute?) {
        guard route == .events, let query = try? EventQuery(request.target?.query ?? []) else { return nil }
        if request.head.headerFields[.accept]?.lowercased().contains("text/event-stream") == true {
            let known = request.head.headerFields[.lastEventID].flatMap { Int64($0) }
            self.kind = .stream(after: known ?? query.after)
        } else if query.waitSeconds > 0 {
            self.kind = .page(query, waitSeconds: query.waitSeconds)
        } else {
            return nil
        }
    }

    func answer(
        from log: EventLog, _ request: ListenerRequest, _ place: FollowerSlots.Place,
        _ answer: @escaping @Sendable (ListenerReply) -> Void
    ) {
        switch self.kind {
        case .stream(let after):
            let fields: HTTPFields = [.contentType: "text/event-stream", .cacheControl: "no-store"]
            let stream = EventStream(log, after: after, on: request.client.eventLoop, place)
            answer(ListenerReply(.ok, fields: fields, body: .stream(stream)))
        case .page(let asked, let seconds):
            let page = log.page(after: asked.after, limit: asked.limit)
            guard page.events.isEmpty, page.missed == 0, !page.isClosed, let loop = request.client.eventLoop else {
                return answer(Self.reply(page))
            }
            // If `after` is greater than the last number, because the journal was lost, then the request waits for the
            // next event.
            var query = asked
            query.after = min(asked.after, page.last)
            let waiting = WaitingPage(log, query, place, answer)
            request.client.whenGone { waiting.finish() }
            loop.scheduleTask(in: .seconds(Int64(seconds))) { waiting.finish() }
            waiting.begin()
        }
    }

    static func reply(_ query: [(name: String, value: String)], from log: EventLog) throws(ControlFailure)
        -> ListenerReply
    {
        let query = try EventQuery(query)
        return Self.reply(log.page(after: query.after, limit: query.limit))
    }

    /// The reply with a page of events: `{"events":[…],"next":N,"last":N,"missed":N}`.
    fileprivate static func reply(_ page: EventLog.Page) -> ListenerReply {
        let lines = page.events.map(\.line).joined(separator: ",")
        return .json(
            .ok, "{\"events\":[\(lines)],\"next\":\(page.next),\"last\":\(page.last),\"missed\":\(page.missed)}")
    }

    struct EventQuery {
        var after: Int64 = 0
        var limit = 256
        var waitSeconds = 0

        init(_ query: [(name: String, value: String)]) throws(ControlFailure) {
            for (name, value) in query {
                switch name {
                case "after": self.after = Int64(try Self.number(name, value, 0...Int.max))
                case "limit": self.limit = try Self.number(name, value, 1...EventRequest.mostEvents)
                case "waitSeconds": self.waitSeconds = try Self.number(name, value, 0...EventRequest.longestWait)
                default: throw FlatObject.unknown("query parameter", name, known: EventRequest.keys)
                }
            }
        }

        private static func number(_ name: String, _ value: String, _ range: ClosedRange<Int>) throws(ControlFailure)
            -> Int
        {
            guard let number = Int(value), range.contains(number) else {
                let most = range.upperBound == .max ? "" : " to \(range.upperBound)"
                throw .invalidFormat(
                    "\(name)=\(value.prefix(32)) is not a whole number from \(range.lowerBound)\(most)",
                    fix: "send a whole number of that range; for \"after\" use \"next\" of the last reply")
            }
            return number
        }
    }
}

/// A request that waits for an event. It is answered once: when an event occurs or the log ends, after its time limit,
/// or when the client has disconnected.
private final class WaitingPage: Sendable {
    private let log: EventLog
    private let query: EventRequest.EventQuery
    private let answer: @Sendable (ListenerReply) -> Void
    private let state: Mutex<(observer: Int?, place: FollowerSlots.Place?)>

    init(
        _ log: EventLog, _ query: EventRequest.EventQuery, _ place: FollowerSlots.Place,
        _ answer: @escaping @Sendable (ListenerReply) -> Void
    ) {
        (self.log, self.query, self.answer) = (log, query, answer)
        self.state = Mutex((observer: nil, place: place))
    }

    func begin() {
        let observer = self.log.observe(after: self.query.after) { [self] in self.finish() }
        let isDone = self.state.withLock { state in
            state.observer = observer
            return state.place == nil
        }
        if isDone { self.log.forget(observer) }
    }

    func finish() {
        let (isFirst, observer) = self.state.withLock { state in
            // The request is done, so its slot becomes free.
            defer { state.place = nil }
            return (state.place != nil, state.observer)
        }
        guard isFirst else { return }
        if let observer { self.log.forget(observer) }
        self.answer(EventRequest.reply(self.log.page(after: self.query.after, limit: self.query.limit)))
    }
}

extension HTTPField.Name {
    static var lastEventID: Self { Self("Last-Event-ID") ?? .from }
}
