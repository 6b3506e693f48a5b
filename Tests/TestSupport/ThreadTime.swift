#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// CPU time of the current thread, which other activity on the machine does not increase.
package enum ThreadTime {
    /// CPU time that `body` uses, in nanoseconds, without waiting.
    ///
    /// - Parameter body: Does its work on the calling thread.
    package static func measure(_ body: () throws -> Void) rethrows -> Int64 {
        let start = Self.now()
        try body()
        return Self.now() - start
    }

    /// CPU time of this thread since its start, in nanoseconds.
    private static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
