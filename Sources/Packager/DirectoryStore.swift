package import MediaKernels
package import MediaTypes
import Libc

/// A segment store in a directory of the file system. `put` writes a temporary file and renames it to the object's name.
package struct DirectoryStore: SegmentStore {
    /// Permissions of files that are not secret, before the process's umask applies.
    private static let fileMode: mode_t = 0o644
    private static let directoryMode: mode_t = 0o755
    private static let secretMode: mode_t = 0o600
    /// Number of attempts to lock the directory, 10 ms apart. After the last attempt the lock is ignored: a process
    /// that holds it for more than a second must have been stopped.
    private static let lockAttempts = 100

    package let directory: String

    package init(directory: String) { self.directory = directory.isEmpty ? "." : directory }

    package func prepare() throws(MediaError) {
        var path = self.directory.utf8.first == UInt8(ascii: "/") ? "/" : ""
        for component in self.directory.split(separator: "/") {
            path += path.isEmpty || path == "/" ? String(component) : "/\(component)"
            if mkdir(path, Self.directoryMode) != 0, errno != EEXIST {
                throw self.notCreatable("cannot create \(path): \(Self.reason())")
            }
        }
        let descriptor = open(self.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw self.notCreatable("cannot open \(self.directory): \(Self.reason())") }
        close(descriptor)
        guard access(self.directory, W_OK | X_OK) == 0 else {
            throw self.notCreatable("cannot write in \(self.directory): \(Self.reason())")
        }
    }

    package func put(_ name: String, _ pieces: [PacketMemory], durable: Bool) throws(MediaError) {
        try self.put(name, pieces, durable: durable, mode: Self.fileMode)
    }

    package func keep(secret name: String, _ bytes: [UInt8]) throws(MediaError) {
        try self.put(name, [PacketMemory(bytes)], durable: true, mode: Self.secretMode)
    }

    private func put(
        _ name: String, _ pieces: [PacketMemory], durable: Bool, mode: mode_t
    ) throws(MediaError) {
        let target = self.full(name)
        let temporary = self.temporary(name)
        let descriptor = try self.create(temporary, mode)
        var failure = Self.finish(descriptor, pieces, durable: durable)
        if failure == nil, rename(temporary, target) != 0 { failure = errno }
        if failure == nil, durable { failure = self.synchronizeDirectory() }
        if let failure {
            unlink(temporary)
            throw self.lost("cannot write \(target)", failure)
        }
    }

    /// Always creates a new file: a worker that was stopped while it wrote the same name still has the old file open,
    /// and must not write into this one when it resumes.
    private func create(_ path: String, _ mode: mode_t) throws(MediaError) -> Int32 {
        unlink(path)
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw self.lost("cannot create \(path)", errno) }
        return descriptor
    }

    /// Writes the pieces, flushes them to disk if `durable` is set, and closes the file. Returns the error number, if
    /// any.
    private static func finish(
        _ descriptor: Int32, _ pieces: [PacketMemory], durable: Bool, _ reached: (WriteStep) -> Void = { _ in }
    ) -> Int32? {
        var failure: Int32?
        for piece in pieces where failure == nil { failure = Self.write(piece, to: descriptor) }
        if failure == nil { reached(.written) }
        if failure == nil, durable, fsync(descriptor) != 0 { failure = errno }
        if failure == nil, durable { reached(.synchronized) }
        if close(descriptor) != 0, failure == nil { failure = errno }
        return failure
    }

    /// Writes a temporary file that only this user can read and flushes it to disk; ``move(_:to:)`` then renames it.
    func stage(_ name: String, _ bytes: [UInt8], _ reached: (WriteStep) -> Void) throws(MediaError) {
        let path = self.full(name)
        let descriptor = try self.create(path, Self.secretMode)
        reached(.created)
        if let failure = Self.finish(descriptor, [PacketMemory(bytes)], durable: true, reached) {
            unlink(path)
            throw self.lost("cannot write \(path)", failure)
        }
    }

    /// Renames a file within the directory, replacing an existing file of the new name.
    func move(_ name: String, to target: String) throws(MediaError) {
        guard rename(self.full(name), self.full(target)) == 0 else {
            throw self.lost("cannot write \(self.full(target))", errno)
        }
    }

    /// Removes the file with this name, but not the temporary file of an unfinished write. Does nothing if the file
    /// does not exist.
    func remove(exactly name: String) throws(MediaError) {
        if unlink(self.full(name)) != 0, errno != ENOENT {
            throw self.lost("cannot remove \(self.full(name))", errno)
        }
    }

    package func overwrite(_ name: String, _ bytes: [UInt8]) throws(MediaError) {
        let descriptor = open(self.full(name), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, Self.fileMode)
        guard descriptor >= 0 else { throw self.lost("cannot open \(self.full(name))", errno) }
        var failure = Self.write(PacketMemory(bytes), to: descriptor)
        if close(descriptor) != 0, failure == nil { failure = errno }
        if let failure { throw self.lost("cannot write \(self.full(name))", failure) }
    }

    package func append(_ name: String, _ bytes: [UInt8]) throws(MediaError) {
        let descriptor = open(self.full(name), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw self.lost("cannot open \(self.full(name))", errno) }
        if let failure = Self.finish(descriptor, [PacketMemory(bytes)], durable: true) {
            throw self.lost("cannot write \(self.full(name))", failure)
        }
    }

    package func remove(_ name: String) throws(MediaError) {
        // A worker that was killed while it wrote this file leaves a temporary file.
        unlink(self.temporary(name))
        if unlink(self.full(name)) != 0, errno != ENOENT {
            throw self.lost("cannot remove \(self.full(name))", errno)
        }
    }

    package func read(_ name: String) -> [UInt8]? { self.read(name, prefix: .max) }

    package func read(_ name: String, prefix: Int) -> [UInt8]? { Self.read(path: self.full(name), prefix: prefix) }

    /// Reads a file, or its first `prefix` bytes; `nil` if it cannot be read.
    package static func read(path: String, prefix: Int = .max) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: min(prefix, 64 << 10))
        while bytes.count < prefix {
            let count = Libc.read(descriptor, &chunk, min(chunk.count, prefix - bytes.count))
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 { return bytes }
            bytes += chunk[..<count]
        }
        return bytes
    }

    package func contains(_ name: String) -> Bool { access(self.full(name), F_OK) == 0 }

    /// Maximum number of directories that ``lies(in:)`` checks: the directory itself and its parents.
    private static let deepest = 256

    /// Whether this directory is the same as `other` or lies below it. Directories are compared by device and inode, so
    /// symbolic links do not matter; both must exist.
    package func lies(in other: DirectoryStore) -> Bool {
        func identity(_ path: String) -> (device: UInt64, number: UInt64)? {
            var facts = stat()
            return stat(path, &facts) == 0 ? (UInt64(facts.st_dev), UInt64(facts.st_ino)) : nil
        }
        guard let outer = identity(other.directory) else { return false }
        var path = self.directory
        var below: (device: UInt64, number: UInt64)?
        for _ in 0..<Self.deepest {
            guard let here = identity(path) else { return false }
            if here == outer { return true }
            // The parent of the root is the root.
            if let below, below == here { return false }
            below = here
            path += "/.."
        }
        return false
    }

    package func size(of name: String) -> Int? {
        var facts = stat()
        guard stat(self.full(name), &facts) == 0 else { return nil }
        return Int(facts.st_size)
    }

    package func synchronize(_ names: [String]) throws(MediaError) {
        for name in names {
            let descriptor = open(self.full(name), O_RDONLY | O_CLOEXEC)
            // A file that was removed in the meantime does not have to be durable.
            guard descriptor >= 0 else { continue }
            defer { close(descriptor) }
            guard fsync(descriptor) == 0 else { throw self.lost("cannot write \(self.full(name))", errno) }
        }
        if let number = self.synchronizeDirectory() { throw self.lost("cannot write \(self.directory)", number) }
    }

    package func path(of name: String) -> String? { self.full(name) }

    package func hold() -> (any HeldDirectory)? { OpenDirectory(self.directory) }

    package func exclusively<R>(_ body: () throws(MediaError) -> R) throws(MediaError) -> R {
        // The lock is on the directory itself: no lock file is left behind, and the kernel releases the lock when the
        // process ends.
        let descriptor = open(self.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return try body() }
        defer { close(descriptor) }
        for _ in 0..<Self.lockAttempts {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK { break }
            usleep(10_000)
        }
        return try body()
    }

    /// Flushes the directory to disk, so that renames survive a crash of the machine once this returns. Returns the
    /// error number, if any, except that of a file system that cannot flush directories.
    private func synchronizeDirectory() -> Int32? {
        let descriptor = open(self.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        // Some network file systems do not support this and return EINVAL.
        return fsync(descriptor) == 0 || errno == EINVAL ? nil : errno
    }

    /// Writes all bytes to a file descriptor. Returns the error number, if any.
    package static func write(_ piece: PacketMemory, to descriptor: Int32) -> Int32? {
        var written = 0
        while written < piece.count {
            let count = piece.withBytes(in: written..<piece.count) { Libc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return count == 0 ? ENOSPC : errno }
            written += count
        }
        return nil
    }

    private func full(_ name: String) -> String { "\(self.directory)/\(name)" }

    private func temporary(_ name: String) -> String { self.full(".\(name).tmp") }

    private static func reason() -> String { String(cString: strerror(errno)) }

    private func notCreatable(_ what: String) -> MediaError {
        MediaError(.notCreatable, what, at: "hls", fix: "name a directory this user can create and write")
    }

    private func lost(_ what: String, _ number: Int32) -> MediaError {
        MediaError(
            Self.isFull(number) ? .diskFull : .outputLost, "\(what): \(String(cString: strerror(number)))", at: "hls",
            fix: "free space or restore the directory; the output keeps trying")
    }

    /// Whether an error number means that the disk or a quota is full.
    package static func isFull(_ number: Int32) -> Bool { number == ENOSPC || number == EDQUOT }
}
