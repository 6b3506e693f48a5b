import HTTPListener
import HTTPTypes
import NIOCore

/// A request for `GET /v1/stats/stream`, which sends the statistics of `GET /v1/stats` every second as server-sent
/// events.
///
/// Spec: WHATWG HTML, "Server-sent events".
struct StatisticsRequest {
    private let isDebug: Bool

    /// Makes the request; nil for other requests. An invalid one is refused elsewhere.
    init?(_ request: ListenerRequest, _ route: ControlRoute?) {
        guard route == .statisticsStream, request.head.method == .get,
            let isDebug = try? ControlResponder.isDebug(request.target?.query ?? [])
        else { return nil }
        self.isDebug = isDebug
    }

    static let fields: HTTPFields = [.contentType: "text/event-stream", .cacheControl: "no-store"]

    func reply(from room: any RoomControlling, _ request: ListenerRequest, _ place: FollowerSlots.Place)
        -> ListenerReply
    {
        let stream = StatisticsStream(room, isDebug: self.isDebug, on: request.client.eventLoop, place)
        return ListenerReply(.ok, fields: Self.fields, body: .stream(stream))
    }
}

/// Sends the statistics at once and then every second, until the room has ended.
private final class StatisticsStream: ReplyStream {
    private let room: any RoomControlling
    private let isDebug: Bool
    private let place: FollowerSlots.Place
    private let waker: StreamWaker

    init(_ room: any RoomControlling, isDebug: Bool, on loop: (any EventLoop)?, _ place: FollowerSlots.Place) {
        (self.room, self.isDebug, self.place) = (room, isDebug, place)
        self.waker = StreamWaker(room.eventLog, on: loop, each: .seconds(1), isDue: true)
    }

    func next() -> ReplyStreamPiece {
        guard !self.room.eventLog.page(after: .max, limit: 1).isClosed else { return .end }
        guard self.waker.takeDue() else { return .later }
        return .bytes(ByteBuffer(string: "data: \(self.room.statisticsJSON(isDebug: self.isDebug))\n\n"))
    }

    // Only the end of the event log is used here; other events cost one check each.
    func whenMore(_ body: @escaping @Sendable () -> Void) { self.waker.whenMore(body) }

    func cancel() { self.waker.cancel() }
}
