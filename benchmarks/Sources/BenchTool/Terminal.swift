#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Lines for the person who waits.
enum Terminal {
    /// Prints at once, even into a pipe.
    static func say(_ line: String) {
        let text = line + "\n"
        _ = text.utf8.withContiguousStorageIfAvailable { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
    }
}
