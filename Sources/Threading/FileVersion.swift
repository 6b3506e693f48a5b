import Libc

/// Identity and version of a file, to detect without reading it that it was replaced, changed or had its permissions
/// changed.
package struct FileVersion: Sendable, Hashable {
    private let inode: UInt64
    private let size: Int64
    private let modified: Time
    /// Change time of the inode; chmod(1) and chown(1) change only this.
    private let changed: Time

    private struct Time: Sendable, Hashable {
        let seconds: Int
        let nanoseconds: Int

        init(_ time: timespec) { (self.seconds, self.nanoseconds) = (time.tv_sec, time.tv_nsec) }
    }

    /// Follows symbolic links, so that a certificate renewed by changing a link is detected. `nil` if the file does not
    /// exist.
    package init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.inode = UInt64(status.st_ino)
        self.size = Int64(status.st_size)
        self.modified = Time(status.st_mtim)
        self.changed = Time(status.st_ctim)
    }
}
