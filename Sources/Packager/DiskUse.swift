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

    private struct File: Hashable {
        let device: UInt64
        let number: UInt64
    }

    /// The unit of `st_blocks`, whatever the file system's own is.
    private static let statBlock: Int64 = 512

    /// Looks at directories, not at those below them. Takes microseconds a file; blocks where a disk hangs.
    ///
    /// - Returns: `nil` where none of them can be read.
    package static func measure(_ directories: [String]) -> DiskUse? {
        var use = DiskUse(used: 0, free: .max)
        var seen: Set<File> = []
        var isRead = false
        for path in directories {
            var system = statvfs()
            guard let directory = opendir(path) else { continue }
            defer { closedir(directory) }
            let descriptor = dirfd(directory)
            guard fstatvfs(descriptor, &system) == 0 else { continue }
            isRead = true
            let (free, isTooMuch) = Int64(clamping: system.f_bavail).multipliedReportingOverflow(
                by: Int64(clamping: system.f_frsize))
            use.free = min(use.free, isTooMuch ? .max : free)
            while let entry = readdir(directory) {
                let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                    // The system ends it with a zero.
                    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                }
                var info = stat()
                guard fstatat(descriptor, name, &info, AT_SYMLINK_NOFOLLOW) == 0,
                    info.st_mode & S_IFMT == S_IFREG,
                    seen.insert(File(device: UInt64(info.st_dev), number: UInt64(info.st_ino))).inserted
                else { continue }
                use.used &+= Int64(info.st_blocks) &* Self.statBlock
            }
        }
        return isRead ? use : nil
    }
}
