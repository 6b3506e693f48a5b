#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// What files take on disk, in bytes of whole blocks, and what there is still, by file system.
package struct DiskUse: Sendable, Hashable {
    /// What lies in a directory.
    package struct Purpose: OptionSet, Sendable, Hashable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// What live playlists list.
        package static let live = Purpose(rawValue: 1)
        package static let recording = Purpose(rawValue: 2)
        package static let clips = Purpose(rawValue: 4)
    }

    /// A directory that is looked at; not those below it.
    package struct Place: Sendable, Hashable {
        package let path: String
        /// Empty: what lies in it counts, and whether its file system is full is nobody's concern.
        package let purpose: Purpose
        /// Directories directly below it count, too.
        package var isDeep = false
        /// Only files count whose names begin so.
        package var prefix = ""

        package init(_ path: String, _ purpose: Purpose) {
            self.path = path
            self.purpose = purpose
        }
    }

    /// A file system.
    package struct Volume: Sendable, Hashable {
        /// Of all directories on it.
        package var purpose: Purpose
        /// What lies in them; a file with several names counts once, for the directory that is looked at first.
        package var used: Int64
        /// What it still has for this user.
        package var free: Int64
        /// The first directory on it that is looked at; empty: not known.
        package let path: String

        package init(_ purpose: Purpose, used: Int64, free: Int64, path: String = "") {
            self.purpose = purpose
            self.used = used
            self.free = free
            self.path = path
        }
    }

    /// Those that serve a purpose, in the order of the directories.
    package let volumes: [Volume]
    /// What lies in all directories.
    package let used: Int64

    /// - Parameter others: Bytes that lie in directories of no purpose, elsewhere.
    package init(_ volumes: [Volume], others: Int64 = 0) {
        self.volumes = volumes
        self.used = volumes.reduce(others) { $0 &+ $1.used }
    }

    /// The same files with what the file systems have free now: a look that takes microseconds, however many files there are.
    ///
    /// - Parameter volume: As ``volume(of:)``.
    package func refreshed(
        volume: (_ path: String) -> (id: UInt64, free: Int64)? = { DiskUse.volume(of: $0) }
    ) -> DiskUse {
        let volumes = self.volumes.map { old in
            Volume(old.purpose, used: old.used, free: volume(old.path)?.free ?? old.free, path: old.path)
        }
        return DiskUse(volumes, others: self.used &- self.volumes.reduce(0) { $0 &+ $1.used })
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

    /// Names of what lies in an open directory, in order; the descriptor stays where it is.
    static func names(in descriptor: Int32) -> [String] {
        let copy = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0 else { return [] }
        guard let directory = fdopendir(copy) else {
            close(copy)
            return []
        }
        defer { closedir(directory) }
        var names: [String] = []
        while names.count < Self.mostEntries, let entry = readdir(directory) {
            // The system ends it with a zero.
            names.append(
                withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                })
        }
        return names.sorted()
    }

    /// Entries of one directory that are looked at: a day of segments in ten renditions.
    private static let mostEntries = 1_000_000

    /// What lies in a directory, one after the other, in no order. Blocks where a disk hangs.
    ///
    /// - Parameters:
    ///   - prefix: Of the names that are looked at; a system call is saved for each of the others.
    ///   - body: Must leave the directory as it is.
    /// - Returns: Whether it can be read.
    @discardableResult
    package static func forEachEntry(of path: String, prefix: String = "", _ body: (Entry) -> Void) -> Bool {
        guard let directory = opendir(path) else { return false }
        defer { closedir(directory) }
        let descriptor = dirfd(directory)
        var count = 0
        while count < Self.mostEntries, let entry = readdir(directory) {
            count += 1
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                // The system ends it with a zero.
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            var info = stat()
            guard name.utf8.starts(with: prefix.utf8), name != ".", name != "..",
                fstatat(descriptor, name, &info, AT_SYMLINK_NOFOLLOW) == 0
            else { continue }
            var found = Entry(name: name, isDirectory: info.st_mode & S_IFMT == S_IFDIR)
            if info.st_mode & S_IFMT == S_IFREG {
                found.file = File(device: UInt64(info.st_dev), number: UInt64(info.st_ino))
                found.bytes = Int64(info.st_blocks) &* Self.statBlock
            }
            body(found)
        }
        return true
    }

    /// Which file system a directory is on, and the bytes that has still for this user.
    ///
    /// The directory says it, not the files in it: those of an overlay name another device.
    package static func volume(of path: String) -> (id: UInt64, free: Int64)? {
        var info = stat()
        var system = statvfs()
        guard stat(path, &info) == 0, statvfs(path, &system) == 0 else { return nil }
        let (free, isTooMuch) = Int64(clamping: system.f_bavail).multipliedReportingOverflow(
            by: Int64(clamping: system.f_frsize))
        return (UInt64(info.st_dev), isTooMuch ? .max : free)
    }

    /// Looks at directories. Takes microseconds a file; blocks where a disk hangs.
    ///
    /// - Parameter volume: As ``volume(of:)``.
    /// - Returns: `nil` where none of them can be read.
    package static func measure(
        _ places: [Place], volume: (_ path: String) -> (id: UInt64, free: Int64)? = { DiskUse.volume(of: $0) }
    ) -> DiskUse? {
        var found: [(id: UInt64, volume: Volume)] = []
        var seen: Set<File> = []
        /// - Returns: Names of directories in it.
        func look(at path: String, _ place: Place) -> [String] {
            guard let (id, free) = volume(path) else { return [] }
            var directories: [String] = []
            var used: Int64 = 0
            let isRead = self.forEachEntry(of: path, prefix: place.prefix) { entry in
                if place.isDeep, entry.isDirectory { directories.append(entry.name) }
                guard let file = entry.file, seen.insert(file).inserted else { return }
                used &+= entry.bytes
            }
            guard isRead else { return [] }
            let index = found.firstIndex { $0.id == id } ?? found.count
            if index == found.count { found.append((id, Volume([], used: 0, free: free, path: path))) }
            found[index].volume.purpose.formUnion(place.purpose)
            found[index].volume.used &+= used
            return directories
        }
        for place in places {
            for name in look(at: place.path, place) { _ = look(at: "\(place.path)/\(name)", place) }
        }
        guard !found.isEmpty else { return nil }
        let others = found.filter { $0.volume.purpose.isEmpty }
        return DiskUse(
            found.map(\.volume).filter { !$0.purpose.isEmpty }, others: others.reduce(0) { $0 &+ $1.volume.used })
    }
}
