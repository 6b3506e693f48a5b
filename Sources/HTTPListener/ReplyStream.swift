package import NIOCore

/// A body that is produced over time. Pieces are taken when the client can accept them, so that a slow client blocks
/// nothing, and nothing accumulates for it.
package protocol ReplyStream: AnyObject, Sendable {
    /// Returns the piece to send now. Called on the connection's event loop; must not block.
    func next() -> ReplyStreamPiece

    /// Sets a function to call, from any thread, when there may be more after ``ReplyStreamPiece/later``; one call is
    /// enough for data that arrived together. Called once, before the first ``next()``.
    func whenMore(_ body: @escaping @Sendable () -> Void)

    /// The client has left, or the listener stops.
    func cancel()
}

package enum ReplyStreamPiece: Sendable {
    case bytes(ByteBuffer)
    /// Nothing to send at present.
    case later
    /// The stream has ended.
    case end
    /// The stream ends because the client reads too slowly.
    case tooSlow
}
