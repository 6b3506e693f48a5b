#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Prints lines to the terminal.
enum Terminal {
    /// Prints a line and flushes it, even into a pipe.
    static func say(_ line: String) {
        let text = line + "\n"
        _ = text.utf8.withContiguousStorageIfAvailable { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
    }
}
