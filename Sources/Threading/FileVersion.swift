import Libc

/// Identity, size and times of a file, for detecting without reading it that the file was replaced or that its content
/// or permissions were changed.
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

    /// Reads the current version of a file; `nil` if stat(2) fails, for example because the file does not exist.
    /// Symbolic links are followed, so that a certificate renewed by changing a link is detected.
    package init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.inode = UInt64(status.st_ino)
        self.size = Int64(status.st_size)
        self.modified = Time(status.st_mtim)
        self.changed = Time(status.st_ctim)
    }
}
