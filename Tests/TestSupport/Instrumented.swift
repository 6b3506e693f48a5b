#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Whether the tests are built with a sanitizer, as `.ci/tsan` and `.ci/asan` say by `TANDEM_INSTRUMENTED`.
///
/// It makes the same code several times slower, and a limit in time that is right without one says nothing with it.
package enum Instrumented {
    /// What limits in time are multiplied by: 1 without a sanitizer.
    package static let factor = getenv("TANDEM_INSTRUMENTED") == nil ? 1 : 20
}
