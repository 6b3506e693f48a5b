#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// What work costs the thread it is done on, which nothing else on the machine makes dearer.
package enum ThreadTime {
    /// Processor time that `body` takes, in nanoseconds; what it waits for counts for nothing.
    ///
    /// - Parameter body: Does its work on the thread it is called on.
    package static func measure(_ body: () throws -> Void) rethrows -> Int64 {
        let start = Self.now()
        try body()
        return Self.now() - start
    }

    /// Of this thread since it began, in nanoseconds.
    private static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
