#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif
import Stages
import Synchronization

/// Whole writes to standard output and standard error, without a buffer that a crash would lose.
enum StandardOutput {
    /// A writer for event lines that blocks nobody.
    static func lines() -> LineWriter { LineWriter(file: STDOUT_FILENO, name: "events") }

    /// The `errno` of what it did not take; 0: it has taken everything.
    private static let failure = Atomic<Int32>(0)

    /// Writes what whoever asked is to have whole, with everything that was told before.
    ///
    /// - Throws: `ExitCode` 74 after the reason was written to standard error.
    static func write(_ text: String) throws {
        self.tell(text)
        let failure = self.failure.load(ordering: .relaxed)
        guard failure != 0 else { return }
        StandardError.write(
            "standard output does not take all that is written (errno \(failure)). Fix: make space where it goes, and run "
                + "this again\n")
        throw ExitStatus.outputLost.code
    }

    /// Writes as much as it takes; the next ``write(_:)`` says so if that was not all.
    static func tell(_ text: String) {
        guard !FileBytes.write(text, to: STDOUT_FILENO) else { return }
        self.failure.store(errno == 0 ? EIO : errno, ordering: .relaxed)
    }
}

enum StandardError {
    /// A writer for log lines that blocks nobody.
    static func lines() -> LineWriter { LineWriter(file: STDERR_FILENO, name: "logs") }

    static func write(_ text: String) { FileBytes.write(text, to: STDERR_FILENO) }
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }
}

/// Files as bytes, with errors that a person can act on.
enum FileBytes {
    /// A pipeline file larger than this is not one.
    private static let limit = 4 << 20

    enum Failure: Error {
        case missing(String)
        case unreadable(String)
    }

    /// The whole file; `-` is standard input.
    ///
    /// - Parameter limit: A file of more bytes is not read.
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
            let count = chunk.withUnsafeMutableBytes { Glibc.read(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .unreadable("\(path): cannot be read (errno \(errno))") }
            if count == 0 { return bytes }
            bytes.append(contentsOf: chunk[..<count])
            guard bytes.count <= limit else {
                throw .unreadable("\(path): larger than \(limit >> 20) MiB, which no such file is")
            }
        }
    }

    /// - Returns: `false` when the file does not take all of the text.
    @discardableResult
    static func write(_ text: String, to file: Int32) -> Bool { WholeWrite.write(Array(text.utf8), to: file) }

    /// Replaces the file at `path`.
    ///
    /// - Returns: `false` when it cannot be opened, or does not take all of the text.
    static func write(_ text: String, toFile path: String) -> Bool {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard file >= 0 else { return false }
        // Some file systems say only here that there is no space.
        let isWhole = WholeWrite.write(Array(text.utf8), to: file)
        return close(file) == 0 && isWhole
    }
}
