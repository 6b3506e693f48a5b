#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// What of a file changes when another one takes its place: enough to see a renewal without reading it.
package struct FileMark: Sendable, Hashable {
    private let inode: UInt64
    private let size: Int64
    private let seconds: Int
    private let nanoseconds: Int

    /// Of the file that links lead to: who renews a certificate by turning a link is seen, too. `nil`: there is none.
    package init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.inode = UInt64(status.st_ino)
        self.size = Int64(status.st_size)
        self.seconds = status.st_mtim.tv_sec
        self.nanoseconds = status.st_mtim.tv_nsec
    }
}
