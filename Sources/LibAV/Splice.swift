import CLibAV

/// System calls of Linux that the `Glibc` module of Swift lacks, for moving bytes between a socket and a pipe without
/// copying them.
package enum Splice {
    /// Moves bytes from one file to another one, of which one must be a pipe: splice(2), without waiting for the pipe.
    ///
    /// - Parameter size: Maximum number of bytes.
    /// - Returns: Number of bytes; −1 after an error, whose number is then in `errno`.
    package static func move(from source: Int32, to target: Int32, size: Int) -> Int {
        clibav_splice(source, target, max(0, size))
    }

    /// Requests a capacity in bytes for a pipe: fcntl(2), F_SETPIPE_SZ.
    ///
    /// - Returns: The new capacity, which is at least `size`; −1 if the system does not allow it.
    package static func resize(_ pipe: Int32, to size: Int32) -> Int32 { clibav_resize_pipe(pipe, size) }
}
