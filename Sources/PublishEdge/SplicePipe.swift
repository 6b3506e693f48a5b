import LibAV
import Libc
package import NIOCore

/// A pipe through which bytes move from one TCP socket to another in the kernel, without being copied: splice(2).
///
/// The pipe is empty between two moves, so one pipe serves all connections of an event loop. Both sockets of a move must
/// be non-blocking, and their channels must not read or write at the same time. SIGPIPE must be ignored, because splice(2)
/// raises it when the receiving socket is closed; SwiftNIO ignores it once it has opened a socket.
///
/// States: usable → unusable, if the kernel does not splice these sockets or the pipe cannot be emptied. Then
/// ``move(from:to:size:rest:)`` moves nothing, and the owner copies the bytes.
package final class SplicePipe {
    /// What one move did.
    package struct Moved: Hashable {
        /// Bytes taken from the source.
        package var bytes: Int
        /// True if the target is closed or has failed, and some of ``bytes`` are lost.
        package var isBroken: Bool

        package init(bytes: Int = 0, isBroken: Bool = false) {
            self.bytes = bytes
            self.isBroken = isBroken
        }
    }

    /// Default size in bytes: what Linux allows without privileges (fs.pipe-max-size).
    package static let usualSize = 1 << 20
    /// A smaller pipe saves nothing over copying, because it takes too many system calls.
    private static let leastSize = 256 << 10

    private let reading: Int32
    private let writing: Int32
    package private(set) var isUsable = true
    /// Bytes in the pipe. 0 between two moves.
    private var held = 0

    /// Opens a pipe of `size` bytes, or of a half or a quarter if the system's limits allow no more.
    ///
    /// - Returns: nil if there is no such pipe.
    package init?(size: Int = SplicePipe.usualSize) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        (self.reading, self.writing) = (ends[0], ends[1])
        // `deinit` closes the pipe also if nil is returned.
        for end in ends where fcntl(end, F_SETFD, FD_CLOEXEC) != 0 || fcntl(end, F_SETFL, O_NONBLOCK) != 0 {
            return nil
        }
        var allowed = Int32(clamping: size)
        while allowed >= Self.leastSize {
            if Splice.resize(self.writing, to: allowed) >= allowed { return }
            allowed /= 2
        }
        return nil
    }

    deinit {
        close(self.reading)
        close(self.writing)
    }

    /// Moves what has arrived at one socket to another one.
    ///
    /// The end of the source and its errors are left to its channel. A small result does not mean that the source is
    /// empty: each segment takes one of the pipe's places, whatever its size.
    ///
    /// - Parameters:
    ///   - size: Maximum number of bytes.
    ///   - rest: Cleared; then what the target does not accept at present.
    package func move(
        from source: NIOBSDSocket.Handle, to target: NIOBSDSocket.Handle, size: Int, rest: inout ByteBuffer
    ) -> Moved {
        rest.clear()
        guard self.isUsable, size > 0 else { return Moved() }
        let received = Splice.move(from: source, to: self.writing, size: size)
        guard received > 0 else {
            // EPERM: a filter of system calls.
            if received < 0, Self.isMissing(errno) || errno == EPERM { self.isUsable = false }
            return Moved()
        }
        var moved = Moved(bytes: received)
        self.held = received
        while self.held > 0 {
            let sent = Splice.move(from: self.reading, to: target, size: self.held)
            if sent > 0 {
                self.held -= sent
            } else if sent == 0 || errno != EINTR {
                let error = sent < 0 ? errno : EAGAIN
                if Self.isMissing(error) { self.isUsable = false }
                moved.isBroken = self.isUsable && error != EAGAIN && error != ENOBUFS
                break
            }
        }
        if self.held > 0, !self.empty(into: &rest) {
            self.isUsable = false
            moved.isBroken = true
        }
        if moved.isBroken { rest.clear() }
        return moved
    }

    /// Reads what is in the pipe; false if that fails.
    private func empty(into rest: inout ByteBuffer) -> Bool {
        while self.held > 0 {
            let count = SocketForwarder.readPipe(self.reading, into: &rest, size: self.held)
            if count > 0 {
                self.held -= count
            } else if count == 0 || errno != EINTR {
                return false
            }
        }
        return true
    }

    /// Whether the error says that the kernel does not splice these files at all.
    private static func isMissing(_ error: Int32) -> Bool { error == EINVAL || error == ENOSYS }
}
