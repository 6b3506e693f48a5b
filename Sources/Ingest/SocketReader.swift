package import NIOCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Reads a socket when the clock says so, without being told that there is something: one system call.
///
/// What it reads goes through the channel's pipeline as if the channel had read it, whatever stands in there. The end of a
/// connection and its failure are left to the channel, which hears of them anyway. Bound to one event loop; one for all its
/// publishers, so that the memory they are read into stays in the caches.
package final class SocketReader {
    /// Bytes of one read at most; what is there beyond is the channel's to tell.
    private let size: Int
    private var buffer = ByteBuffer()

    package init(size: Int) { self.size = max(1, size) }

    /// What ``read(_:of:)`` wants to know of a channel; nil: it has no socket, or none any more. On its event loop.
    package static func socket(of channel: any Channel) -> NIOBSDSocket.Handle? {
        try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { $0 }
    }

    /// Reads what has come on `channel`. On its event loop, and not from inside its handlers.
    ///
    /// - Parameter socket: The channel's own. To ask for it each time would cost a tenth of what is done here.
    /// - Returns: Bytes that were read; nil: it is closed.
    package func read(_ socket: NIOBSDSocket.Handle, of channel: any Channel) -> Int? {
        // A channel closes its socket and ceases to be active in one step on its loop; later the number may be anybody's.
        guard channel.isActive else { return nil }
        // Taken out of here: whoever keeps what has been read has it for himself, and the next read gets new memory.
        var buffer = self.buffer
        self.buffer = ByteBuffer()
        buffer.clear(minimumCapacity: self.size)
        defer { self.buffer = buffer }
        let count = buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: self.size) { bytes in
            // With nothing there, at the end and after a failure nothing has been written.
            max(0, recv(socket, bytes.baseAddress, bytes.count, 0))
        }
        if count > 0 {
            let pipeline = channel.pipeline.syncOperations
            pipeline.fireChannelRead(NIOAny(buffer))
            pipeline.fireChannelReadComplete()
        }
        return count
    }
}
