import Libc

/// Writes bytes to files completely, or reports failure.
package enum FileWriting {
    /// Writes all of `bytes` to an open file, and continues after signals and short writes.
    ///
    /// - Returns: `false` if a write failed, for example because the disk is full or a pipe has no reader; some of the
    ///   bytes may have been written then.
    @discardableResult
    package static func write(_ bytes: [UInt8], to file: Int32) -> Bool {
        var start = 0
        while start < bytes.count {
            let count = bytes[start...].withUnsafeBytes { Libc.write(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            start += count
        }
        return true
    }
}
