import Ingest
import Libc
import NIOCore

/// Moves bytes from one socket to another with two system calls, past the channels' pipelines.
///
/// Used on the event loop of both channels: ``receive(_:into:size:)`` only while the publisher's channel does not read by
/// itself, ``send(_:_:)`` only while the room's channel has no pending writes. The end of a connection and errors are left
/// to the channels, which learn of them anyway.
enum SocketForwarder {
    /// Reads what has arrived into `buffer`, which is cleared first.
    ///
    /// - Parameter size: Maximum number of bytes.
    /// - Returns: Number of bytes; 0 if there were none, at the end of the stream, and after an error.
    static func receive(_ socket: NIOBSDSocket.Handle, into buffer: inout ByteBuffer, size: Int) -> Int {
        buffer.clear(minimumCapacity: size)
        return buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: size) { bytes in
            // At most as many bytes as the buffer has room for.
            max(0, recv(socket, bytes.baseAddress, min(size, bytes.count), Int32(MSG_DONTWAIT)))
        }
    }

    /// Writes as much of `buffer` as the socket accepts now, and moves its reader index.
    ///
    /// - Returns: False if the connection is broken.
    static func send(_ socket: NIOBSDSocket.Handle, _ buffer: inout ByteBuffer) -> Bool {
        let sent = buffer.withUnsafeReadableBytes { bytes in
            // Exactly the readable bytes.
            Libc.send(socket, bytes.baseAddress, bytes.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
        }
        if sent < 0 { return errno == EAGAIN || errno == EINTR || errno == ENOBUFS }
        buffer.moveReaderIndex(forwardBy: sent)
        return true
    }

    /// Appends at most `size` bytes of a pipe to `buffer`.
    ///
    /// - Returns: The result of read(2); after -1, `errno` has the reason.
    static func readPipe(_ pipe: Int32, into buffer: inout ByteBuffer, size: Int) -> Int {
        var result = 0
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: size) { bytes in
            // At most as many bytes as the buffer has room for.
            result = read(pipe, bytes.baseAddress, min(size, bytes.count))
            return max(0, result)
        }
        return result
    }
}
