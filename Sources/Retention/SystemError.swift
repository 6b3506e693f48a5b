#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// An error number of the system.
struct SystemError: Error, Sendable, Hashable {
    let number: Int32

    var text: String { String(cString: strerror(self.number)) }

    /// Whether the name does not exist, or is no directory any more.
    var isAbsence: Bool { self.number == ENOENT || self.number == ENOTDIR || self.number == ELOOP }

    /// Whether another process has a lock.
    var isBusy: Bool { self.number == EWOULDBLOCK }
}
