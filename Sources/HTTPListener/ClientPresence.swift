package import NIOCore
import Synchronization

/// Tells a responder whether the client of a pending request is still connected.
package final class ClientPresence: Sendable {
    private struct State {
        var isGone = false
        var onLeave: (@Sendable () -> Void)?
    }

    /// Event loop on which replies to this client are written; nil if it is not known. A responder that answers many
    /// clients at once can answer them there in one task.
    package let eventLoop: (any EventLoop)?
    private let state = Mutex(State())

    /// The client's address as its proxy has named it (``HTTPProxies``), or else that of the connection, which has no IP
    /// address if it is a Unix socket.
    package let remoteAddress: SocketAddress?

    package init(eventLoop: (any EventLoop)? = nil, remoteAddress: SocketAddress? = nil) {
        self.eventLoop = eventLoop
        self.remoteAddress = remoteAddress
    }

    /// Calls `body` once if the client leaves before it is answered, or at once if it has left. A later call replaces an
    /// earlier one.
    package func whenGone(_ body: @escaping @Sendable () -> Void) {
        let isGone = self.state.withLock { state in
            if !state.isGone { state.onLeave = body }
            return state.isGone
        }
        if isGone { body() }
    }

    /// Drops the callback of ``whenGone(_:)``, because the request has been answered.
    package func forget() { self.state.withLock { $0.onLeave = nil } }

    /// Records that the reply cannot be sent any more: the client has left, or the connection was closed. Calls
    /// the callback of ``whenGone(_:)``, if there is one.
    package func leave() {
        let body = self.state.withLock { state in
            state.isGone = true
            defer { state.onLeave = nil }
            return state.onLeave
        }
        body?()
    }
}
