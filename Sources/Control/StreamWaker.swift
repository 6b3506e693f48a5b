import Events
import NIOCore
import Synchronization

/// Wakes a reply stream when the event log has new events, and once per period if it has an event loop.
///
/// States: created → waking (``whenMore(_:)``) → stopped (``cancel()``, which may be called first).
final class StreamWaker: Sendable {
    private struct State {
        var isDue: Bool
        var observer: Int?
        var timer: RepeatedTask?
        var isOver = false
    }

    private let log: EventLog
    private let loop: (any EventLoop)?
    private let period: TimeAmount
    private let state: Mutex<State>

    /// - Parameters:
    ///   - loop: Event loop of the timer; nil if only events wake the stream.
    ///   - isDue: Whether the first period counts as elapsed at the start.
    init(_ log: EventLog, on loop: (any EventLoop)?, each period: TimeAmount, isDue: Bool = false) {
        (self.log, self.loop, self.period) = (log, loop, period)
        self.state = Mutex(State(isDue: isDue))
    }

    /// Whether a period has elapsed since the last call.
    func takeDue() -> Bool {
        self.state.withLock { state in
            defer { state.isDue = false }
            return state.isDue
        }
    }

    /// Implements ``ReplyStream/whenMore(_:)``.
    func whenMore(_ body: @escaping @Sendable () -> Void) {
        let observer = self.log.observe(after: .max, body)
        let timer = self.loop?.scheduleRepeatedTask(initialDelay: self.period, delay: self.period) { [weak self] _ in
            self?.state.withLock { $0.isDue = true }
            body()
        }
        let isOver = self.state.withLock { state in
            (state.observer, state.timer) = (observer, timer)
            return state.isOver
        }
        if isOver { self.cancel() }
    }

    /// Implements ``ReplyStream/cancel()``.
    func cancel() {
        let (observer, timer) = self.state.withLock { state in
            defer { (state.observer, state.timer, state.isOver) = (nil, nil, true) }
            return (state.observer, state.timer)
        }
        if let observer { self.log.forget(observer) }
        timer?.cancel()
    }
}
