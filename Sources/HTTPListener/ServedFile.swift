import Libc
package import NIOCore
import Synchronization

/// A file opened for reading, closed with its last reference. It can be deleted while it is being sent.
package final class ServedFile: Sendable {
    private static let opened = Atomic<UInt64>(0)

    private let descriptor: Int32
    /// Number that is unique among all files opened in this process.
    let number: UInt64
    /// Size of the file in bytes when it was opened.
    let size: Int
    private let counted: FileSlots?

    /// Opens a file; `nil` if there is no regular file at `path`. A symbolic link as the last component is not
    /// followed.
    package convenience init?(path: String) { self.init(path: path, counted: nil) }

    /// Opens a file; nil if there is no regular file at `path`.
    ///
    /// - Parameter counted: The limiter that counts the file until it is closed; nil: the file is not counted.
    init?(path: String, counted: FileSlots?) {
        // O_NONBLOCK: opening a FIFO must not wait for its writer.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            return nil
        }
        self.descriptor = descriptor
        self.counted = counted
        self.size = Int(status.st_size)
        self.number = Self.opened.wrappingAdd(1, ordering: .relaxed).newValue
    }

    deinit {
        close(self.descriptor)
        self.counted?.giveBack()
    }

    /// Returns exactly `count` bytes from `offset`, or `nil` if the file is shorter or cannot be read. Blocks.
    package func read(at offset: Int, count: Int) -> ByteBuffer? {
        var buffer = ByteBufferAllocator().buffer(capacity: count)
        while buffer.readableBytes < count {
            let (start, missing) = (offset + buffer.readableBytes, count - buffer.readableBytes)
            let taken = buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: missing) { space in
                var result = pread(self.descriptor, space.baseAddress, min(missing, space.count), off_t(start))
                while result < 0, errno == EINTR {
                    result = pread(self.descriptor, space.baseAddress, min(missing, space.count), off_t(start))
                }
                return max(result, 0)
            }
            guard taken > 0 else { return nil }
        }
        return buffer
    }
}
