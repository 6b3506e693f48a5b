#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// What of a file changes when another one takes its place or may be read again: enough to see that without reading it.
package struct FileMark: Sendable, Hashable {
    private let inode: UInt64
    private let size: Int64
    private let modified: Time
    /// Of the inode: chmod(1) and chown(1) change nothing else.
    private let changed: Time

    private struct Time: Sendable, Hashable {
        let seconds: Int
        let nanoseconds: Int

        init(_ time: timespec) { (self.seconds, self.nanoseconds) = (time.tv_sec, time.tv_nsec) }
    }

    /// Of the file that links lead to: who renews a certificate by turning a link is seen, too. `nil`: there is none.
    package init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.inode = UInt64(status.st_ino)
        self.size = Int64(status.st_size)
        self.modified = Time(status.st_mtim)
        self.changed = Time(status.st_ctim)
    }
}
