import Events
import HTTPListener
import NIOCore
import Synchronization

/// Events as server-sent events: each with its number as `id` and its line as `data`; a comment where nothing happens for long,
/// so that whoever is between does not take the connection for dead.
final class EventStream: ReplyStream {
    private struct State {
        var known: Int64
        var observer: Int?
        var timer: RepeatedTask?
        var isBeatDue = false
        var isOver = false
    }

    private static let beat = TimeAmount.seconds(15)
    private static let eventsAtOnce = 64

    private let log: EventLog
    private let loop: (any EventLoop)?
    private let place: FollowerPlaces.Place
    private let state: Mutex<State>

    init(_ log: EventLog, after known: Int64, on loop: (any EventLoop)?, _ place: FollowerPlaces.Place) {
        self.log = log
        self.loop = loop
        self.place = place
        self.state = Mutex(State(known: min(known, log.last)))
    }

    func next() -> ReplyStreamPiece {
        let (known, isBeatDue) = self.state.withLock { state in
            defer { state.isBeatDue = false }
            return (state.known, state.isBeatDue)
        }
        let page = self.log.page(after: known, limit: Self.eventsAtOnce)
        var text = ""
        // What the client missed while it was away, or too slow.
        if page.missed > 0 { text += "event: missed\ndata: {\"missed\":\(page.missed)}\n\n" }
        for event in page.events { text += "id: \(event.sequence)\ndata: \(event.line)\n\n" }
        if text.isEmpty {
            guard !page.isClosed else { return .end }
            guard isBeatDue else { return .later }
            text = ":\n\n"
        }
        self.state.withLock { $0.known = page.next }
        return .bytes(ByteBuffer(string: text))
    }

    func whenMore(_ body: @escaping @Sendable () -> Void) {
        let observer = self.log.observe(after: .max, body)
        let timer = self.loop?.scheduleRepeatedTask(initialDelay: Self.beat, delay: Self.beat) { [weak self] _ in
            self?.state.withLock { $0.isBeatDue = true }
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
        if let observer { self.log.forget(observer) }
        timer?.cancel()
    }
}
