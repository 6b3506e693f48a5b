package import NIOCore

/// A response body that is produced over time. The listener takes a piece when the client can accept it, so that a slow
/// client blocks nothing and no data accumulates for it.
package protocol ReplyStream: AnyObject, Sendable {
    /// Returns the piece to send now. Called on the connection's event loop; must not block.
    func next() -> ReplyStreamPiece

    /// Sets the function that the stream calls, from any thread, when it may have more data after it returned
    /// ``ReplyStreamPiece/later``. One call is enough for data that arrived together. The listener sets the function
    /// once, before the first ``next()``.
    func whenMore(_ body: @escaping @Sendable () -> Void)

    /// Called when the listener takes no more pieces: the stream has ended, the client has left or is too slow, or the
    /// listener stops. Called without any other call before if the listener takes no piece at all: for HEAD, or if the
    /// client has left before the reply.
    func cancel()
}

package enum ReplyStreamPiece: Sendable {
    case bytes(ByteBuffer)
    /// There is nothing to send at present; the stream calls when it has more.
    case later
    /// The stream has ended.
    case end
    /// The stream ends because the client reads too slowly.
    case tooSlow
}
