#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Longer time limits for tests built with a sanitizer, which `.ci/tsan` and `.ci/asan` signal with `TANDEM_INSTRUMENTED`.
///
/// A sanitizer makes the same code several times slower, so normal time limits have no meaning with it.
package enum Instrumented {
    /// Factor for time limits: 20 with a sanitizer, 1 without.
    package static let factor = getenv("TANDEM_INSTRUMENTED") == nil ? 1 : 20
}
