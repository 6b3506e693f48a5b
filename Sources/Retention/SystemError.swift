#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// An error of a system call, by its `errno`.
struct SystemError: Error, Sendable, Hashable {
    let number: Int32

    var text: String { String(cString: strerror(self.number)) }

    /// Whether a directory does not exist, or its name belongs to a file or a symbolic link.
    var isAbsence: Bool { self.number == ENOENT || self.number == ENOTDIR || self.number == ELOOP }

    /// Whether another process holds the lock.
    var isBusy: Bool { self.number == EWOULDBLOCK }
}
