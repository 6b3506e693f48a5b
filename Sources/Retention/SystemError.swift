#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Describes error numbers of the system.
enum SystemError {
    static func text(_ number: Int32) -> String { String(cString: strerror(number)) }
}
