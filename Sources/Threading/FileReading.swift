import Libc

/// Reads files or parts of them as bytes.
package enum FileReading {
    /// Reason why a file could not be read.
    package enum Failure: Error, Hashable {
        /// A system call failed, with this `errno`.
        case unreadable(Int32)
        /// The path names a pipe, a device or a directory, which is not read: reading could block forever.
        case notRegular
        /// The file is larger than the caller's limit; it has this many bytes.
        case tooLarge(bytes: Int)

        /// The failure as the end of a message that begins with the path: `cannot be read: No such file or directory`.
        package var text: String {
            switch self {
            case .unreadable(let code): "cannot be read: \(String(cString: strerror(code)))"
            case .notRegular: "is not a regular file"
            case .tooLarge(let bytes): "has \(bytes) bytes, which is too much"
            }
        }
    }

    /// Reads a whole regular file whose path comes from outside. A pipe is rejected instead of blocking.
    ///
    /// - Parameter limit: Maximum size in bytes; a larger file is not read.
    package static func regular(_ path: String, limit: Int) throws(Failure) -> [UInt8] {
        try self.withRegular(path) { file, size throws(Failure) in
            guard size <= limit else { throw .tooLarge(bytes: size) }
            return try self.read(file, count: size)
        }
    }

    private static func withRegular(
        _ path: String, _ body: (_ file: Int32, _ size: Int) throws(Failure) -> [UInt8]
    ) throws(Failure) -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { throw .unreadable(errno) }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw .unreadable(errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notRegular }
        return try body(file, Int(status.st_size))
    }

    /// Reads `wanted` bytes from the current position, or fewer at the end of the file.
    private static func read(_ file: Int32, count wanted: Int) throws(Failure) -> [UInt8] {
        let (bytes, number) = self.readUntilError(file, count: wanted)
        if let number { throw .unreadable(number) }
        return bytes
    }

    /// Reads like ``read(_:count:)`` and returns the bytes before an error, with its `errno`.
    private static func readUntilError(_ file: Int32, count wanted: Int) -> ([UInt8], Int32?) {
        var bytes = [UInt8](repeating: 0, count: wanted)
        var count = 0
        while count < bytes.count {
            let read = bytes[count...].withUnsafeMutableBytes { Libc.read(file, $0.baseAddress, $0.count) }
            if read < 0, errno == EINTR { continue }
            guard read >= 0 else { return (Array(bytes.prefix(count)), errno) }
            guard read > 0 else { break }
            count += read
        }
        return (Array(bytes.prefix(count)), nil)
    }

    /// Reads `count` bytes of a regular file, or fewer at its end. A pipe is rejected instead of blocking.
    ///
    /// - Parameters:
    ///   - offset: Bytes from the beginning of the file, 0 or more.
    ///   - count: Bytes to read, 0 or more.
    package static func part(of path: String, at offset: Int, count: Int) throws(Failure) -> [UInt8] {
        try self.withRegular(path) { file, size throws(Failure) in
            let wanted = max(0, min(count, size - offset))
            guard offset >= 0, wanted > 0, lseek(file, offset, SEEK_SET) == offset else { return [] }
            return try self.read(file, count: wanted)
        }
    }

    /// Returns the last `limit` bytes of a file, or the whole file if it is shorter; the first `limit` bytes if the
    /// file does not report its size, as in /proc. After a read error, returns the bytes read before it; empty if the
    /// file cannot be opened. If the path names a pipe, does not wait for data.
    package static func tail(of path: String, limit: Int) -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return [] }
        defer { close(file) }
        // Not every file reports its size: those in /proc do not.
        let size = lseek(file, 0, SEEK_END)
        lseek(file, max(0, size - limit), SEEK_SET)
        return self.readUntilError(file, count: size > 0 ? min(Int(clamping: size), limit) : limit).0
    }
}
