import HTTPListener
import HTTPTypes
import NIOCore
import Synchronization

/// `GET /v1/stats/stream`: the numbers of `GET /v1/stats`, each second, as server-sent events.
///
/// Spec: WHATWG HTML, "Server-sent events".
struct StatisticsRequest {
    private let isDebug: Bool

    /// `nil`: another request; one that is wrong is refused elsewhere.
    init?(_ request: ListenerRequest) {
        guard request.head.method == .get, let target = request.target,
            ControlRoute(path: target.path) == .statisticsStream,
            let isDebug = try? ControlResponder.isDebug(target.query)
        else { return nil }
        self.isDebug = isDebug
    }

    static let fields: HTTPFields = [.contentType: "text/event-stream", .cacheControl: "no-store"]

    func reply(from room: any RoomControlling, _ request: ListenerRequest, _ place: FollowerPlaces.Place)
        -> ListenerReply
    {
        let stream = StatisticsStream(room, isDebug: self.isDebug, on: request.client.eventLoop, place)
        return ListenerReply(.ok, fields: Self.fields, body: .stream(stream))
    }
}

/// The numbers, a second apart: the first at once, the last when the room is over.
private final class StatisticsStream: ReplyStream {
    private struct State {
        var isDue = true
        var observer: Int?
        var timer: RepeatedTask?
        var isOver = false
    }

    private let room: any RoomControlling
    private let isDebug: Bool
    private let loop: (any EventLoop)?
    private let place: FollowerPlaces.Place
    private let state = Mutex(State())

    init(_ room: any RoomControlling, isDebug: Bool, on loop: (any EventLoop)?, _ place: FollowerPlaces.Place) {
        (self.room, self.isDebug, self.loop, self.place) = (room, isDebug, loop, place)
    }

    func next() -> ReplyStreamPiece {
        guard !self.room.eventLog.page(after: .max, limit: 1).isClosed else { return .end }
        let isDue = self.state.withLock { state in
            defer { state.isDue = false }
            return state.isDue
        }
        guard isDue else { return .later }
        return .bytes(ByteBuffer(string: "data: \(self.room.statisticsJSON(isDebug: self.isDebug))\n\n"))
    }

    func whenMore(_ body: @escaping @Sendable () -> Void) {
        // Of the events only the end is of interest, and others cost a look.
        let observer = self.room.eventLog.observe(after: .max, body)
        let timer = self.loop?.scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) { [weak self] _ in
            self?.state.withLock { $0.isDue = true }
            body()
        }
        let isOver = self.state.withLock { state in
            (state.observer, state.timer) = (observer, timer)
            return state.isOver
        }
        if isOver { self.cancel() }
    }

    func cancel() {
        let (observer, timer) = self.state.withLock { state in
            defer { (state.observer, state.timer, state.isOver) = (nil, nil, true) }
            return (state.observer, state.timer)
        }
        if let observer { self.room.eventLog.forget(observer) }
        timer?.cancel()
    }
}
