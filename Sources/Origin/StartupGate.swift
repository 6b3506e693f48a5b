package import MediaTypes
import NIOCore
import Synchronization

/// Makes playback requests wait, for five seconds at most, while a worker is about to publish: from the start unless
/// the gate is made open, and from ``hold()`` on, until ``open()``.
///
/// Without this, requests would get status 404, after which some players stop permanently.
package final class StartupGate: OriginContent {
    private struct Waiter {
        let request: OriginRequest
        /// Time of the request in nanoseconds of the clock.
        let since: Int64
        let answer: @Sendable (OriginAnswer) -> Void
    }

    private struct State {
        var isOpen = false
        var isClosed = false
        var waiters: [Waiter] = []
    }

    /// Maximum number of waiting requests; further requests are answered with status 503.
    private static let longestQueue = 10_000
    /// Maximum wait in nanoseconds; a new worker takes a fraction of this time to start.
    private static let longestWait: Int64 = 5_000_000_000

    private let content: any OriginContent
    private let clock: any MonotonicClock
    private let state = Mutex(State())

    /// Makes a gate in front of the published content.
    ///
    /// - Parameters:
    ///   - content: Answers requests once ``open()`` has been called.
    ///   - isOpen: Whether requests are answered from the beginning, until ``hold()``.
    package init(_ content: any OriginContent, isOpen: Bool = false, clock: any MonotonicClock) {
        self.content = content
        self.clock = clock
        self.state.withLock { $0.isOpen = isOpen }
    }

    /// Makes requests wait until ``open()``. Callable from any thread.
    package func hold() { self.state.withLock { $0.isOpen = false } }

    package var ended: Bool { self.content.ended }
    /// Whether a request is waiting.
    package var isWaitedFor: Bool { self.state.withLock { !$0.waiters.isEmpty } }

    /// Lets all requests be answered from now on, and answers the waiting ones. May be called more than once, from any
    /// thread.
    package func open() {
        let waiters = self.state.withLock { state in
            state.isOpen = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters {
            Self.onItsLoop(waiter.request) { [content] in content.answer(to: waiter.request, waiter.answer) }
        }
    }

    package func answer(to request: OriginRequest, _ answer: @escaping @Sendable (OriginAnswer) -> Void) {
        let now = self.clock.now()
        let refusal = self.state.withLock { state -> OriginAnswer?? in
            if state.isOpen { return .some(nil) }
            if state.isClosed { return .late("the listener stops") }
            guard state.waiters.count < Self.longestQueue else { return .late("too many requests wait") }
            state.waiters.append(Waiter(request: request, since: now, answer: answer))
            return nil
        }
        switch refusal {
        case nil: return
        case .some(nil): self.content.answer(to: request, answer)
        case .some(.some(let refusal)): answer(refusal)
        }
    }

    package func expire() {
        let deadline = self.clock.now() &- Self.longestWait
        self.refuse("the room has not begun in time") { $0.since <= deadline }
        self.content.expire()
    }

    package func close() {
        self.state.withLock { $0.isClosed = true }
        self.refuse("the listener stops") { _ in true }
        self.content.close()
    }

    private func refuse(_ reason: String, where isRefused: (Waiter) -> Bool) {
        let refused = self.state.withLock { state in
            let refused = state.waiters.filter(isRefused)
            if !refused.isEmpty { state.waiters.removeAll(where: isRefused) }
            return refused
        }
        for waiter in refused { Self.onItsLoop(waiter.request) { waiter.answer(.late(reason)) } }
    }

    private static func onItsLoop(_ request: OriginRequest, _ work: @escaping @Sendable () -> Void) {
        if let loop = request.client.eventLoop { loop.execute(work) } else { Task { work() } }
    }
}
