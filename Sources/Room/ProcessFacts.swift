#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif
import Stages

/// What the kernel says of this process.
enum ProcessFacts {
    /// CPU seconds so far, in milliseconds.
    static var cpuMs: Int64 { SystemClock.processCPU() / 1_000_000 }

    /// Largest resident size so far, in KiB.
    static var peakMemoryKiB: Int64 {
        var usage = rusage()
        getrusage(0, &usage)  // RUSAGE_SELF, which the C module shows with another type
        return Int64(usage.ru_maxrss)
    }
}
