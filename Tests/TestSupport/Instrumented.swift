#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Whether the tests are built with a sanitizer, which `.ci/tsan` and `.ci/asan` signal with `TANDEM_INSTRUMENTED`.
///
/// A sanitizer makes the same code several times slower, so normal time limits have no meaning with it.
package enum Instrumented {
    /// Factor for time limits: 1 without a sanitizer.
    package static let factor = getenv("TANDEM_INSTRUMENTED") == nil ? 1 : 20
}
