package import NIOCore

/// A body that goes on: what is there is taken out when the client can take it, so that a slow one holds nothing up and nothing
/// piles up for it.
package protocol ReplyStream: AnyObject, Sendable {
    /// What is to be sent now. Called on the connection's event loop; must not block.
    func next() -> ReplyStreamPiece

    /// `body` is called, from any thread, when there may be more after ``ReplyStreamPiece/later``; once is enough for what came
    /// together. Called once, before the first ``next()``.
    func whenMore(_ body: @escaping @Sendable () -> Void)

    /// The client has gone, or the listener ends.
    func cancel()
}

package enum ReplyStreamPiece: Sendable {
    case bytes(ByteBuffer)
    /// Nothing now.
    case later
    /// Nothing any more.
    case end
    /// Nothing any more: the client takes it too slowly.
    case tooSlow
}
