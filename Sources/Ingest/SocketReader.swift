package import NIOCore
import Libc

/// Reads a socket on a timer, without waiting for a readiness event: one system call.
///
/// The data passes through the channel's pipeline as if the channel had read it. The end of a connection and errors are
/// left to the channel, which learns of them anyway. Bound to one event loop; all its publishers share one reader, so
/// that the buffer stays in the CPU caches.
package final class SocketReader {
    /// Maximum number of bytes per read; the rest stays in the socket.
    private let size: Int
    private var buffer = ByteBuffer()

    package init(size: Int) { self.size = max(1, size) }

    /// Returns the socket for ``read(_:of:)``; nil if the channel has no socket or has closed it. Call it on the
    /// channel's event loop.
    package static func socket(of channel: any Channel) -> NIOBSDSocket.Handle? {
        try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { $0 }
    }

    /// Reads what has arrived on `channel`. Call it on its event loop, and not from inside its handlers.
    ///
    /// - Parameter socket: The channel's own socket; see ``socket(of:)``.
    /// - Returns: Number of bytes read; 0 if there were none, at the end of the stream, and after an error; nil if the
    ///   channel is closed.
    package func read(_ socket: NIOBSDSocket.Handle, of channel: any Channel) -> Int? {
        // A channel closes its socket and becomes inactive in one step on its loop; later the descriptor may belong to
        // another file.
        guard channel.isActive else { return nil }
        // Moved out of the property: if a handler keeps the buffer, the next read gets new memory.
        var buffer = self.buffer
        self.buffer = ByteBuffer()
        buffer.clear(minimumCapacity: self.size)
        defer { self.buffer = buffer }
        let count = buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: self.size) { bytes in
            // If there is no data, at the end of the stream, and after an error nothing has been written.
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
