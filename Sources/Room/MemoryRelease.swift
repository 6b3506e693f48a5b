import LibAV
import MediaKernels
import MediaTypes

/// Releases packet memory that was not used lately, and returns free heap memory to the system.
struct MemoryRelease {
    /// Least time between two releases of memory, in nanoseconds.
    private static let interval = 60 * TimeMath.nanoseconds

    private var last: Int64

    /// - Parameter now: Time of the monotonic clock, in nanoseconds.
    init(now: Int64) { self.last = now }

    /// Releases unused memory if enough time has passed since the last release.
    mutating func step(now: Int64) {
        guard now &- self.last >= Self.interval else { return }
        self.last = now
        PacketAllocator.releaseUnused()
        LibAV.trimHeaps()
    }
}
