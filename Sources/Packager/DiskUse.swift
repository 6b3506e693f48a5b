#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// What files take on disk, in bytes of whole blocks.
package struct DiskUse: Sendable, Hashable {
    /// What lies in the directories; a file with several names in them counts once.
    package var used: Int64
    /// What their file systems still have for this user: the least of them.
    package var free: Int64

    package init(used: Int64, free: Int64) {
        self.used = used
        self.free = free
    }

    fileprivate struct File: Sendable, Hashable {
        let device: UInt64
        let number: UInt64
    }

    /// The unit of `st_blocks`, whatever the file system's own is.
    private static let statBlock: Int64 = 512

    /// Something in a directory.
    package struct Entry: Sendable, Hashable {
        package let name: String
        /// A directory, not a link to one.
        package let isDirectory: Bool
        fileprivate var file: File?
        fileprivate var bytes: Int64 = 0

        fileprivate init(name: String, isDirectory: Bool) {
            self.name = name
            self.isDirectory = isDirectory
        }
    }

    /// Entries of one directory that are looked at: a day of segments in ten renditions.
    private static let mostEntries = 1_000_000

    /// What lies in a directory, in no order; `nil` where it cannot be read. Blocks where a disk hangs.
    package static func entries(of path: String) -> [Entry]? {
        guard let directory = opendir(path) else { return nil }
        defer { closedir(directory) }
        let descriptor = dirfd(directory)
        var entries: [Entry] = []
        while entries.count < Self.mostEntries, let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                // The system ends it with a zero.
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            var info = stat()
            guard name != ".", name != "..", fstatat(descriptor, name, &info, AT_SYMLINK_NOFOLLOW) == 0 else {
                continue
            }
            var found = Entry(name: name, isDirectory: info.st_mode & S_IFMT == S_IFDIR)
            if info.st_mode & S_IFMT == S_IFREG {
                found.file = File(device: UInt64(info.st_dev), number: UInt64(info.st_ino))
                found.bytes = Int64(info.st_blocks) &* Self.statBlock
            }
            entries.append(found)
        }
        return entries
    }

    /// Looks at directories, not at those below them. Takes microseconds a file; blocks where a disk hangs.
    ///
    /// - Parameters:
    ///   - deep: Directories of which those directly below count, too.
    ///   - named: Directories in which only files count whose names begin so.
    /// - Returns: `nil` where none of them can be read.
    package static func measure(
        _ directories: [String], deep: [String] = [], named: [(directory: String, prefix: String)] = []
    ) -> DiskUse? {
        var use = DiskUse(used: 0, free: .max)
        var seen: Set<File> = []
        var isRead = false
        func add(_ entries: [Entry]) {
            for entry in entries {
                guard let file = entry.file, seen.insert(file).inserted else { continue }
                use.used &+= entry.bytes
            }
        }
        for (path, prefix) in (directories + deep).map({ ($0, "") }) + named.map({ ($0.directory, $0.prefix) }) {
            var system = statvfs()
            guard let entries = self.entries(of: path), statvfs(path, &system) == 0 else { continue }
            isRead = true
            let (free, isTooMuch) = Int64(clamping: system.f_bavail).multipliedReportingOverflow(
                by: Int64(clamping: system.f_frsize))
            use.free = min(use.free, isTooMuch ? .max : free)
            add(prefix.isEmpty ? entries : entries.filter { $0.name.hasPrefix(prefix) })
        }
        for path in deep {
            for entry in self.entries(of: path) ?? [] where entry.isDirectory {
                add(self.entries(of: "\(path)/\(entry.name)") ?? [])
            }
        }
        return isRead ? use : nil
    }
}
