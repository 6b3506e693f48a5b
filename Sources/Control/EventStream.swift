import Events
import HTTPListener
import NIOCore
import Synchronization

/// Sends events to a client as server-sent events, each with its number as `id` and its JSON line as `data`. Every 15 s
/// a comment is sent if no event is waiting, so that intermediaries do not close the connection.
final class EventStream: ReplyStream {
    private static let beat = TimeAmount.seconds(15)
    private static let eventsAtOnce = 64

    private let log: EventLog
    private let place: FollowerSlots.Place
    private let waker: StreamWaker
    /// Number of the last event that was sent, or that the client had already.
    private let known: Mutex<Int64>

    init(_ log: EventLog, after known: Int64, on loop: (any EventLoop)?, _ place: FollowerSlots.Place) {
        self.log = log
        self.place = place
        self.waker = StreamWaker(log, on: loop, each: Self.beat)
        self.known = Mutex(min(known, log.last))
    }

    func next() -> ReplyStreamPiece {
        let isBeatDue = self.waker.takeDue()
        let page = self.log.page(after: self.known.withLock { $0 }, limit: Self.eventsAtOnce)
        var text = ""
        // The client has missed events while it was disconnected or too slow.
        if page.missed > 0 { text += "event: missed\ndata: {\"missed\":\(page.missed)}\n\n" }
        for event in page.events { text += "id: \(event.sequence)\ndata: \(event.line)\n\n" }
        if text.isEmpty {
            guard !page.isClosed else { return .end }
            guard isBeatDue else { return .later }
            text = ":\n\n"
        }
        self.known.withLock { $0 = page.next }
        return .bytes(ByteBuffer(string: text))
    }

    func whenMore(_ body: @escaping @Sendable () -> Void) { self.waker.whenMore(body) }

    func cancel() { self.waker.cancel() }
}
