package import NIOCore
import Synchronization

/// Whether the client of a request is still there: who makes a request wait is told when nobody waits any more.
package final class ClientPresence: Sendable {
    private struct State {
        var isGone = false
        var onLeave: (@Sendable () -> Void)?
    }

    /// Where replies to this client are written: who answers many clients at once does it there, in one piece of work.
    package let eventLoop: (any EventLoop)?
    private let state = Mutex(State())

    package init(eventLoop: (any EventLoop)? = nil) { self.eventLoop = eventLoop }

    /// Calls `body` once, when the client leaves; at once where it has. A later call takes the place of an earlier one.
    package func whenGone(_ body: @escaping @Sendable () -> Void) {
        let isGone = self.state.withLock { state in
            if !state.isGone { state.onLeave = body }
            return state.isGone
        }
        if isGone { body() }
    }

    /// The request is answered: leaving means nothing any more.
    package func forget() { self.state.withLock { $0.onLeave = nil } }

    /// The client has closed its side, or given up this request.
    package func leave() {
        let body = self.state.withLock { state in
            state.isGone = true
            defer { state.onLeave = nil }
            return state.onLeave
        }
        body?()
    }
}
