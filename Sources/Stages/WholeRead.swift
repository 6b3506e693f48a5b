#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Small files as bytes.
package enum WholeRead {
    /// The last `limit` bytes of a file, or all of it; empty where there is none or it cannot be read.
    package static func tail(of path: String, limit: Int) -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return [] }
        defer { close(file) }
        // Not every file says how long it is: those of /proc do not.
        let size = lseek(file, 0, SEEK_END)
        lseek(file, max(0, size - limit), SEEK_SET)
        var bytes = [UInt8](repeating: 0, count: size > 0 ? min(Int(clamping: size), limit) : limit)
        var count = 0
        while count < bytes.count {
            let read = bytes[count...].withUnsafeMutableBytes { Glibc.read(file, $0.baseAddress, $0.count) }
            if read < 0, errno == EINTR { continue }
            guard read > 0 else { break }
            count += read
        }
        return Array(bytes.prefix(count))
    }
}
