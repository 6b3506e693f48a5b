import MediaTypes

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// An open directory below the root of a retention run.
///
/// Every operation is relative to the open directory and follows no symbolic link, so that nothing outside the root can be reached,
/// whatever is renamed or linked meanwhile.
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
        /// Bytes of whole blocks on the disk.
        var bytes: Int64
        /// Time of the last change of the content, in Unix seconds.
        var modified: Int64
    }

    /// Which directory it is, however it was reached.
    struct Identity: Sendable, Hashable {
        let device: UInt64
        let number: UInt64
    }

    private let descriptor: Int32
    let identity: Identity

    /// Most entries of a directory that are read: a day of segments in ten renditions.
    private static let mostEntries = 1_000_000
    /// The unit of `st_blocks`, independent of the file system's block size.
    private static let statBlock: Int64 = 512

    private init(owning descriptor: Int32, _ identity: Identity) {
        self.descriptor = descriptor
        self.identity = identity
    }

    deinit { close(self.descriptor) }

    /// Opens the root. Its own path may have links, since the operator wrote it.
    ///
    /// - Throws: ``MediaTypes/MediaError/Code/notReadable``.
    static func root(_ path: String) throws(MediaError) -> Folder {
        guard let folder = Self.open(AT_FDCWD, path, follows: true) else {
            throw MediaError(
                .notReadable, "\(path) cannot be opened: \(String(cString: strerror(errno)))", at: "gc",
                fix: "name a directory that this user can read and write")
        }
        return folder
    }

    /// Opens a directory in this one; `nil` if the name is a link or no directory.
    borrowing func folder(_ name: String) -> Folder? {
        Self.isPlain(name) ? Self.open(self.descriptor, name, follows: false) : nil
    }

    private static func open(_ parent: Int32, _ name: String, follows: Bool) -> Folder? {
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK
        let descriptor = openat(parent, name, follows ? flags : flags | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else {
            close(descriptor)
            return nil
        }
        return Folder(owning: descriptor, Identity(device: UInt64(facts.st_dev), number: UInt64(facts.st_ino)))
    }

    /// A name in the directory itself.
    private static func isPlain(_ name: String) -> Bool {
        !name.isEmpty && name != "." && name != ".." && !name.utf8.contains(0x2f) && !name.utf8.contains(0)
    }

    /// All entries, ordered by name; `nil` if the directory cannot be read to its end.
    borrowing func entries() -> [Entry]? {
        let copy = openat(self.descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0 else { return nil }
        guard let directory = fdopendir(copy) else {
            close(copy)
            return nil
        }
        defer { closedir(directory) }
        var entries: [Entry] = []
        while true {
            errno = 0
            guard let entry = readdir(directory) else { break }
            guard entries.count < Self.mostEntries else { return nil }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                // The name ends with a zero byte.
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            var facts = stat()
            guard name != ".", name != "..", fstatat(self.descriptor, name, &facts, AT_SYMLINK_NOFOLLOW) == 0 else {
                continue
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
        return errno == 0 ? entries.sorted { $0.name < $1.name } : nil
    }

    /// The first bytes of a regular file; `nil` if there is none.
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

    /// Removes a regular file. A file that does not exist counts as removed; anything else than a regular file stays.
    ///
    /// - Returns: The error number, or `nil`.
    borrowing func remove(_ name: String) -> Int32? {
        guard Self.isPlain(name) else { return EINVAL }
        var facts = stat()
        guard fstatat(self.descriptor, name, &facts, AT_SYMLINK_NOFOLLOW) == 0 else {
            return errno == ENOENT ? nil : errno
        }
        guard facts.st_mode & S_IFMT == S_IFREG else { return EISDIR }
        return unlinkat(self.descriptor, name, 0) == 0 || errno == ENOENT ? nil : errno
    }

    /// Removes a directory in this one if it is empty.
    borrowing func removeFolder(_ name: String) {
        if Self.isPlain(name) { unlinkat(self.descriptor, name, AT_REMOVEDIR) }
    }

    /// Takes the lock that workers hold while they claim the directory, write its state file or make a recording's files.
    ///
    /// - Returns: False if another process has it.
    borrowing func lock() -> Bool { flock(self.descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK }

    borrowing func unlock() { flock(self.descriptor, LOCK_UN) }
}
