import MediaTypes

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// An open directory below the root of a retention run.
///
/// Every operation is relative to the open directory and follows no symbolic link. Therefore nothing outside the root
/// can be reached, even if directories are renamed or linked during the run.
struct Folder: ~Copyable {
    /// An entry of a directory.
    struct Entry: Sendable, Hashable {
        enum Kind: Sendable, Hashable {
            case file
            case directory
            /// A symbolic link, a socket, a device.
            case other
        }

        var name: String
        var kind: Kind
        /// Space in bytes that the entry takes on the disk, in whole blocks.
        var bytes: Int64
        /// Time of the last change of the content, in Unix seconds.
        var modified: Int64
    }

    /// Device and inode number, which identify a directory by whatever path it was opened.
    struct Identity: Sendable, Hashable {
        let device: UInt64
        let number: UInt64
    }

    private let descriptor: Int32
    let identity: Identity

    /// Highest number of entries that are read from a directory: more than a day of one-second segments in ten
    /// renditions.
    private static let mostEntries = 1_000_000
    /// The unit of `st_blocks`, independent of the file system's block size.
    private static let statBlock: Int64 = 512

    private init(owning descriptor: Int32, _ identity: Identity) {
        self.descriptor = descriptor
        self.identity = identity
    }

    deinit { close(self.descriptor) }

    /// Opens the root directory. Symbolic links in its path are followed, because the operator chose the path.
    ///
    /// - Throws: ``MediaTypes/MediaError/Code/notReadable`` if the directory cannot be opened.
    static func root(_ path: String) throws(MediaError) -> Folder {
        do throws(SystemError) {
            return try Self.open(AT_FDCWD, path, follows: true)
        } catch {
            throw MediaError(
                .notReadable, "\(path) cannot be opened: \(error.text)", at: "gc",
                fix: "name a directory that this user can read and write")
        }
    }

    /// Opens a subdirectory. Does not follow a symbolic link.
    ///
    /// - Throws: An error whose ``SystemError/isAbsence`` is true if there is no directory of this name.
    borrowing func folder(_ name: String) throws(SystemError) -> Folder {
        guard Self.isPlain(name) else { throw SystemError(number: ENOENT) }
        return try Self.open(self.descriptor, name, follows: false)
    }

    private static func open(_ parent: Int32, _ name: String, follows: Bool) throws(SystemError) -> Folder {
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK
        let descriptor = openat(parent, name, follows ? flags : flags | O_NOFOLLOW)
        guard descriptor >= 0 else { throw SystemError(number: errno) }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else {
            let number = errno
            close(descriptor)
            throw SystemError(number: number)
        }
        return Folder(owning: descriptor, Identity(device: UInt64(facts.st_dev), number: UInt64(facts.st_ino)))
    }

    /// Whether a name can only be that of an entry in the directory itself: it is not `.` or `..` and has no slash.
    private static func isPlain(_ name: String) -> Bool {
        !name.isEmpty && name != "." && name != ".." && !name.utf8.contains(0x2f) && !name.utf8.contains(0)
    }

    /// The entries of the directory, ordered by name.
    ///
    /// - Throws: If the directory or an entry cannot be read, or if there are more than a million entries.
    borrowing func entries() throws(SystemError) -> [Entry] {
        let copy = openat(self.descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0 else { throw SystemError(number: errno) }
        guard let directory = fdopendir(copy) else {
            let number = errno
            close(copy)
            throw SystemError(number: number)
        }
        defer { closedir(directory) }
        var entries: [Entry] = []
        while true {
            errno = 0
            guard let entry = readdir(directory) else { break }
            guard entries.count < Self.mostEntries else { throw SystemError(number: EOVERFLOW) }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                // The name ends with a zero byte.
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            var facts = stat()
            if name == "." || name == ".." { continue }
            guard fstatat(self.descriptor, name, &facts, AT_SYMLINK_NOFOLLOW) == 0 else {
                // The entry was removed after it was listed.
                if errno == ENOENT { continue }
                throw SystemError(number: errno)
            }
            let kind: Entry.Kind =
                switch facts.st_mode & S_IFMT {
                case S_IFREG: .file
                case S_IFDIR: .directory
                default: .other
                }
            entries.append(
                Entry(
                    name: name, kind: kind, bytes: Int64(facts.st_blocks) &* Self.statBlock,
                    modified: Int64(facts.st_mtim.tv_sec)))
        }
        guard errno == 0 else { throw SystemError(number: errno) }
        return entries.sorted { $0.name < $1.name }
    }

    /// The first `limit` bytes of a regular file; `nil` if there is no regular file of this name or it cannot be read.
    borrowing func read(_ name: String, limit: Int) -> [UInt8]? {
        guard Self.isPlain(name) else { return nil }
        let file = openat(self.descriptor, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var facts = stat()
        guard fstat(file, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return nil }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: min(limit, 64 << 10))
        while bytes.count < limit {
            let count = Glibc.read(file, &chunk, min(chunk.count, limit - bytes.count))
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 { break }
            bytes += chunk[..<count]
        }
        return bytes
    }

    /// Identifies a file's content at one time. The version differs if the file was replaced or written again.
    struct Version: Sendable, Hashable {
        fileprivate let number: UInt64
        fileprivate let bytes: Int64
        /// Seconds and nanoseconds of the last change of the content, then of the file's metadata.
        fileprivate let times: [Int64]
    }

    /// The version of a file; `nil` if there is no regular file of this name.
    borrowing func version(_ name: String) -> Version? {
        var facts = stat()
        guard Self.isPlain(name), fstatat(self.descriptor, name, &facts, AT_SYMLINK_NOFOLLOW) == 0,
            facts.st_mode & S_IFMT == S_IFREG
        else { return nil }
        return Version(
            number: UInt64(facts.st_ino), bytes: Int64(facts.st_size),
            times: [facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec, facts.st_ctim.tv_sec, facts.st_ctim.tv_nsec].map {
                Int64($0)
            })
    }

    /// The result of ``remove(_:notAfter:)``.
    enum Removal: Sendable, Hashable {
        /// The file was removed, or did not exist.
        case done
        /// The file was kept because it was changed after the given time.
        case isNewer
        /// The file could not be removed, or is not a regular file.
        case failed(SystemError)
    }

    /// Removes a regular file if its content was last changed at `newest` or earlier.
    ///
    /// - Parameter newest: Unix seconds.
    borrowing func remove(_ name: String, notAfter newest: Int64) -> Removal {
        guard Self.isPlain(name) else { return .failed(SystemError(number: EINVAL)) }
        var facts = stat()
        guard fstatat(self.descriptor, name, &facts, AT_SYMLINK_NOFOLLOW) == 0 else {
            return errno == ENOENT ? .done : .failed(SystemError(number: errno))
        }
        guard facts.st_mode & S_IFMT == S_IFREG else { return .failed(SystemError(number: EISDIR)) }
        guard Int64(facts.st_mtim.tv_sec) <= newest else { return .isNewer }
        guard unlinkat(self.descriptor, name, 0) != 0, errno != ENOENT else { return .done }
        return .failed(SystemError(number: errno))
    }

    /// Removes a subdirectory if it is empty.
    borrowing func removeFolder(_ name: String) {
        if Self.isPlain(name) { unlinkat(self.descriptor, name, AT_REMOVEDIR) }
    }

    /// Takes the lock that workers hold while they claim the directory, write its state file or make a recording's files.
    /// Does not wait.
    ///
    /// - Returns: `nil` if the lock was taken; EWOULDBLOCK if another process holds it, or another error, for example
    ///   if the file system has no locks.
    borrowing func lock() -> SystemError? {
        while flock(self.descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno != EINTR { return SystemError(number: errno) }
        }
        return nil
    }

    borrowing func unlock() { flock(self.descriptor, LOCK_UN) }
}
