#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Environment variables.
enum Variables {
    static subscript(name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
