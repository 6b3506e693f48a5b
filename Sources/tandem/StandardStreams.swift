import Libc
import Threading
import Synchronization

/// Writes to standard output without a buffer, so that a crash loses nothing; only ``lines()`` has a queue.
enum StandardOutput {
    /// A writer for event lines that does not block the caller; lines beyond its queue are dropped.
    static func lines() -> LineWriter { LineWriter(file: STDOUT_FILENO, name: "events") }

    /// `errno` of a failed write; 0: all writes have succeeded.
    private static let failure = Atomic<Int32>(0)

    /// Writes text, and fails unless this text and everything written before with ``tell(_:)`` is complete.
    ///
    /// - Throws: `ExitCode` 74 after writing the reason to standard error.
    static func write(_ text: String) throws {
        self.tell(text)
        let failure = self.failure.load(ordering: .relaxed)
        guard failure != 0 else { return }
        StandardError.write(
            "cannot write to standard output (errno \(failure)). Fix: free space on its device, and run "
                + "the command again\n")
        throw ExitStatus.outputLost.code
    }

    /// Writes as much of the text as possible. If a part could not be written, the next ``write(_:)`` throws.
    static func tell(_ text: String) {
        guard !FileBytes.write(text, to: STDOUT_FILENO) else { return }
        self.failure.store(errno == 0 ? EIO : errno, ordering: .relaxed)
    }
}

enum StandardError {
    /// A writer for log lines that does not block the caller; lines beyond its queue are dropped.
    static func lines() -> LineWriter { LineWriter(file: STDERR_FILENO, name: "logs") }

    static func write(_ text: String) { FileBytes.write(text, to: STDERR_FILENO) }
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }
}

/// Reads and writes whole files.
enum FileBytes {
    /// Default maximum size of a file in bytes, for pipeline files.
    private static let limit = 4 << 20

    enum Failure: Error {
        case missing(String)
        case unreadable(String)
    }

    /// Reads the whole file; `-` is standard input.
    ///
    /// - Parameter limit: Maximum size in bytes.
    static func read(_ path: String, limit: Int = Self.limit) throws(Failure) -> [UInt8] {
        let file = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else {
            throw errno == ENOENT
                ? .missing("\(path): there is no such file") : .unreadable("\(path): cannot be read (errno \(errno))")
        }
        defer { if path != "-" { close(file) } }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = chunk.withUnsafeMutableBytes { Libc.read(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .unreadable("\(path): cannot be read (errno \(errno))") }
            if count == 0 { return bytes }
            bytes.append(contentsOf: chunk[..<count])
            guard bytes.count <= limit else {
                throw .unreadable("\(path): larger than the maximum of \(limit >> 20) MiB")
            }
        }
    }

    /// Writes text to an open file descriptor.
    ///
    /// - Returns: `false` if the text could not be written completely.
    @discardableResult
    static func write(_ text: String, to file: Int32) -> Bool { FileWriting.write(Array(text.utf8), to: file) }

    /// Replaces the content of the file at `path`, which is created if it does not exist.
    ///
    /// - Returns: `false` if the file cannot be opened, or the text could not be written completely.
    static func write(_ text: String, toFile path: String) -> Bool {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard file >= 0 else { return false }
        // Some file systems report only here that there is no space.
        let isWhole = FileWriting.write(Array(text.utf8), to: file)
        return close(file) == 0 && isWhole
    }
}
