import Libc

/// Disk usage of directories and free space of their file systems, in bytes; usage counts whole blocks.
package struct DiskUse: Sendable, Hashable {
    /// The uses of a directory: live segments, recordings or clips.
    package struct Purpose: OptionSet, Sendable, Hashable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The directory of an HLS or MPEG-TS output.
        package static let live = Purpose(rawValue: 1)
        package static let recording = Purpose(rawValue: 2)
        package static let clips = Purpose(rawValue: 4)
    }

    /// A directory to measure, without subdirectories unless ``isDeep`` is set.
    package struct Place: Sendable, Hashable {
        package let path: String
        /// What the directory is used for. If empty, its files count toward ``DiskUse/used``, but free space on its
        /// file system is not monitored.
        package let purpose: Purpose
        /// Whether files in the directory's direct subdirectories are measured, too.
        package var isDeep = false
        /// Only files whose names begin with one of these prefixes count; empty: all files.
        package var prefixes: [String] = []

        package init(_ path: String, _ purpose: Purpose) {
            self.path = path
            self.purpose = purpose
        }
    }

    /// Usage and free space of one file system.
    package struct Volume: Sendable, Hashable {
        /// Purposes of all measured directories on this file system.
        package var purpose: Purpose
        /// Bytes of the files in the measured directories on this file system. A file with several names counts once,
        /// for the directory that is measured first.
        package var used: Int64
        /// Free space in bytes that is available to this user.
        package var free: Int64
        /// Path of the first measured directory on this file system; empty if unknown.
        package let path: String

        package init(_ purpose: Purpose, used: Int64, free: Int64, path: String = "") {
            self.purpose = purpose
            self.used = used
            self.free = free
            self.path = path
        }
    }

    /// File systems with at least one purpose, in the order of the directories.
    package let volumes: [Volume]
    /// Total space in bytes of the files in all measured directories.
    package let used: Int64

    /// Makes a value from measured file systems.
    ///
    /// - Parameter others: Bytes in directories without a purpose on other file systems.
    package init(_ volumes: [Volume], others: Int64 = 0) {
        self.volumes = volumes
        self.used = volumes.reduce(others) { $0 &+ $1.used }
    }

    /// Returns the same usage with newly measured free space. Takes microseconds regardless of the number of files.
    ///
    /// - Parameter volume: See ``volume(of:)``.
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

    /// The unit of `st_blocks`, independent of the file system's block size.
    private static let statBlock: Int64 = 512

    /// A directory entry.
    package struct Entry: Sendable, Hashable {
        package let name: String
        /// Whether the entry is a directory; false for a symbolic link to a directory.
        package let isDirectory: Bool
        fileprivate var file: File?
        fileprivate var bytes: Int64 = 0

        fileprivate init(name: String, isDirectory: Bool) {
            self.name = name
            self.isDirectory = isDirectory
        }
    }

    /// Returns the sorted names of the entries of an open directory, including `.` and `..`; none if it cannot be read.
    /// The descriptor's position does not change.
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
            // The name ends with a zero byte.
            names.append(
                withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                })
        }
        return names.sorted()
    }

    /// Maximum number of entries that are read per directory: enough for a day of one-second segments in ten
    /// renditions.
    private static let mostEntries = 1_000_000

    /// Calls `body` for the entries of a directory, at most a million, except `.` and `..`, in no particular order.
    /// Blocks if the disk hangs.
    ///
    /// - Parameters:
    ///   - prefixes: Only names that begin with one of them are visited; empty: all. Other entries cost no `stat` call.
    ///   - body: Must not change the directory.
    /// - Returns: Whether the directory can be read.
    @discardableResult
    package static func forEachEntry(of path: String, prefixes: [String] = [], _ body: (Entry) -> Void) -> Bool {
        guard let directory = opendir(path) else { return false }
        defer { closedir(directory) }
        let descriptor = dirfd(directory)
        var count = 0
        while count < Self.mostEntries, let entry = readdir(directory) {
            count += 1
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                // The name ends with a zero byte.
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            var info = stat()
            guard prefixes.isEmpty || prefixes.contains(where: { name.utf8.starts(with: $0.utf8) }),
                name != ".", name != "..",
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

    /// Returns the device number of a directory's file system and the bytes available there to this user; `nil` if the
    /// directory cannot be read.
    package static func volume(of path: String) -> (id: UInt64, free: Int64)? {
        var info = stat()
        var system = statvfs()
        guard stat(path, &info) == 0, statvfs(path, &system) == 0 else { return nil }
        let (free, isTooMuch) = Int64(clamping: system.f_bavail).multipliedReportingOverflow(
            by: Int64(clamping: system.f_frsize))
        return (UInt64(info.st_dev), isTooMuch ? .max : free)
    }

    /// Measures directories. Takes microseconds per file; blocks if a disk hangs.
    ///
    /// - Parameter volume: See ``volume(of:)``.
    /// - Returns: `nil` if no directory can be read.
    package static func measure(
        _ places: [Place], volume: (_ path: String) -> (id: UInt64, free: Int64)? = { DiskUse.volume(of: $0) }
    ) -> DiskUse? {
        var found: [(id: UInt64, volume: Volume)] = []
        var seen: Set<File> = []
        /// Measures one directory.
        ///
        /// - Returns: Names of the directories in it.
        func look(at path: String, _ place: Place) -> [String] {
            guard let (id, free) = volume(path) else { return [] }
            var directories: [String] = []
            var used: Int64 = 0
            let isRead = self.forEachEntry(of: path, prefixes: place.prefixes) { entry in
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
