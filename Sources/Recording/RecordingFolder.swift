import LibAV
import Libc
import MediaKernels
import MediaTypes
import Packager
import Threading

/// The directory of a recording or of clips.
package struct RecordingFolder: Sendable {
    /// The kind of files in a directory: decides what errors say about it.
    enum Content: Sendable {
        case recording, clips

        var place: String { self == .clips ? "clip" : "recording" }
        var fix: String {
            "free space or restore the directory, and "
                + (self == .clips ? "request the clip again" : "start the room again")
        }
    }

    let path: String
    private let content: Content
    /// Flushes a file to disk; fsync(2) unless a test replaces it.
    private let systemSync: @Sendable (_ descriptor: Int32) -> Int32

    private static let mode: mode_t = 0o644

    init(path: String, of content: Content = .recording) {
        (self.path, self.content) = (path, content)
        self.systemSync = { fsync($0) }
    }

    /// Makes the folder of a recording with another implementation of fsync(2), for tests.
    ///
    /// - Parameter systemSync: Returns 0, or -1 if the disk failed.
    package init(path: String, systemSync: @escaping @Sendable (_ descriptor: Int32) -> Int32) {
        (self.path, self.content) = (path, .recording)
        self.systemSync = systemSync
    }

    func full(_ name: String) -> String { "\(self.path)/\(name)" }

    func contains(_ name: String) -> Bool { access(self.full(name), F_OK) == 0 }

    func remove(_ name: String) { unlink(self.full(name)) }

    /// Removes the directory if it is empty.
    func removeItself() { rmdir(self.path) }

    /// Links a file of the live output into this directory, or copies it if it cannot be linked. Does nothing if the
    /// name exists.
    ///
    /// - Parameter copies: Whether a copy is allowed, which takes time in proportion to the file's size.
    /// - Throws: ``MediaError/Code/outputLost``, ``MediaError/Code/diskFull``.
    func take(_ name: String, from source: String, copies: Bool = true) throws(MediaError) {
        let target = self.full(name)
        if link(source, target) == 0 || errno == EEXIST { return }
        let number = errno
        guard copies || number == ENOENT || DirectoryStore.isFull(number) else {
            throw MediaError(
                .outputLost, "cannot hard-link \(source) into \(self.path): \(String(cString: strerror(number)))",
                at: "clip", fix: "put the hls output on a file system with hard links")
        }
        guard copies else { throw self.lost("cannot hard-link \(source) into \(self.path)", number) }
        guard let bytes = DirectoryStore.read(path: source) else { throw self.lost("cannot read \(source)", errno) }
        try self.put(name, bytes)
    }

    /// Replaces the content of a file atomically.
    ///
    /// - Parameter durable: If true, the bytes are flushed to disk before the file gets its name: after a power failure
    ///   the file has its new or its old content, and is never empty.
    /// - Throws: ``MediaError/Code/outputLost``, ``MediaError/Code/diskFull``.
    func put(_ name: String, _ bytes: [UInt8], durable: Bool = false) throws(MediaError) {
        let temporary = self.full(".\(name).tmp")
        var file = try FileWriter(path: temporary, folder: self)
        do throws(MediaError) {
            try file.write(bytes)
            try file.close(durable: durable)
            try self.rename(temporary, to: name)
        } catch {
            file.abandon()
            throw error
        }
    }

    /// Runs `body` with a lock on the directory; without a lock if the file system does not support it.
    ///
    /// - Returns: The result of `body`; `nil` if another process or call holds the lock, in which case `body` is not
    ///   run.
    func exclusively<R>(_ body: () throws(MediaError) -> R) throws(MediaError) -> R? {
        // The lock is on the directory itself; the kernel releases it when the process ends.
        let descriptor = open(self.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return try body() }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK else { return nil }
        return try body()
    }

    /// Renames a complete file to its final name.
    func rename(_ path: String, to name: String) throws(MediaError) {
        guard Libc.rename(path, self.full(name)) == 0 else {
            throw self.lost("cannot write \(self.full(name))", errno)
        }
    }

    /// Gives a complete file its final name, without replacing an existing file.
    ///
    /// - Throws: ``MediaError/Code/rejected`` if the name exists, ``MediaError/Code/outputLost``,
    ///   ``MediaError/Code/diskFull``.
    func publish(_ path: String, as name: String) throws(MediaError) {
        if link(path, self.full(name)) == 0 {
            unlink(path)
            return
        }
        let number = errno
        guard number != EEXIST, !self.contains(name) else {
            throw MediaError(
                .rejected, "the file \(self.full(name)) already exists", at: "clip", fix: "choose another name")
        }
        // On a file system without hard links, renaming is the best alternative.
        guard number == EPERM || number == EOPNOTSUPP || number == ENOSYS else {
            throw self.lost("cannot write \(self.full(name))", number)
        }
        try self.rename(path, to: name)
    }

    /// Appends text to a file in one write. If the write fails, nothing is appended.
    func append(_ text: String, to name: String) throws(MediaError) {
        let descriptor = open(self.full(name), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, Self.mode)
        guard descriptor >= 0 else { throw self.lost("cannot open \(self.full(name))", errno) }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        let size = lseek(descriptor, 0, SEEK_END)
        let count = Libc.write(descriptor, bytes, bytes.count)
        guard count == bytes.count else {
            let number = count < 0 ? errno : ENOSPC
            // Remove the partial text, so that later text is not read as its continuation.
            if size >= 0 { _ = ftruncate(descriptor, size) }
            throw self.lost("cannot write \(self.full(name))", number)
        }
    }

    /// Removes an incomplete last line that a killed worker left, so that appended text starts on a new line.
    func endLine(of name: String) throws(MediaError) {
        guard let bytes = self.read(name), let last = bytes.last, last != UInt8(ascii: "\n") else { return }
        let whole = bytes.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        guard truncate(self.full(name), off_t(whole)) == 0 else {
            throw self.lost("cannot shorten \(self.full(name))", errno)
        }
    }

    func read(_ name: String) -> [UInt8]? { DirectoryStore.read(path: self.full(name)) }

    /// Flushes these files and their names to disk: they survive a crash of the machine once this returns.
    func synchronize(_ names: [String]) throws(MediaError) {
        for path in names.map(self.full) + [self.path] {
            let descriptor = open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw self.lost("cannot open \(path)", errno) }
            defer { close(descriptor) }
            guard self.systemSync(descriptor) == 0 else { throw self.lost("cannot write \(path)", errno) }
        }
    }

    func lost(_ what: String) -> MediaError {
        MediaError(.outputLost, what, at: self.content.place, fix: self.content.fix)
    }

    /// Makes an error with the reason of a failed system call.
    ///
    /// - Parameter number: Error number (`errno`) of the system call.
    func lost(_ what: String, _ number: Int32) -> MediaError {
        MediaError(
            DirectoryStore.isFull(number) ? .diskFull : .outputLost, "\(what): \(String(cString: strerror(number)))",
            at: self.content.place, fix: self.content.fix)
    }

    /// Writes one file sequentially and computes its checksum.
    struct FileWriter: ~Copyable {
        private let descriptor: Int32
        private let path: String
        private let folder: RecordingFolder
        private var hash = SHA256Stream()
        private(set) var byteCount = 0
        /// SHA-256 in hexadecimal digits, once ``close(durable:)`` has returned.
        private(set) var checksum = ""
        private var pending: [UInt8] = []
        private var isOpen = true

        /// Number of collected bytes from which they are written.
        private static let block = 1 << 20

        init(path: String, folder: RecordingFolder) throws(MediaError) {
            unlink(path)
            self.descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, RecordingFolder.mode)
            self.path = path
            self.folder = folder
            guard self.descriptor >= 0 else { throw folder.lost("cannot create \(path)", errno) }
        }

        mutating func write(_ bytes: some Collection<UInt8>) throws(MediaError) {
            self.pending += bytes
            if self.pending.count >= Self.block { try self.flush() }
        }

        private mutating func flush() throws(MediaError) {
            self.hash.update(self.pending)
            self.byteCount += self.pending.count
            guard FileWriting.write(self.pending, to: self.descriptor) else {
                throw self.folder.lost("cannot write \(self.path)", errno)
            }
            self.pending.removeAll(keepingCapacity: true)
        }

        mutating func close(durable: Bool) throws(MediaError) {
            try self.flush()
            self.checksum = Hexadecimal.text(self.hash.finish())
            let isSafe = durable ? self.folder.systemSync(self.descriptor) == 0 : true
            self.isOpen = false
            guard Libc.close(self.descriptor) == 0, isSafe else {
                throw self.folder.lost("cannot write \(self.path)", errno)
            }
        }

        /// Closes and removes the unfinished file.
        mutating func abandon() {
            if self.isOpen { Libc.close(self.descriptor) }
            self.isOpen = false
            unlink(self.path)
        }
    }

    /// Returns the SHA-256 of bytes in hexadecimal digits.
    static func checksum(of bytes: [UInt8]) -> String { Hexadecimal.text(Digest.sha256(of: bytes)) }
}
