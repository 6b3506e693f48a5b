import Glibc
import MediaTypes
import Synchronization

/// The machine's monotonic clock: loopback tests run in real time.
struct TestClock: MonotonicClock {
    func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

/// A clock that only a test advances.
final class StillClock: MonotonicClock {
    private let time = Atomic<Int64>(1_000_000_000)

    func now() -> Int64 { self.time.load(ordering: .relaxed) }
    func forward(milliseconds: Int64) { self.time.add(milliseconds * 1_000_000, ordering: .relaxed) }
}

/// The machine's monotonic clock, which a test can also advance.
final class ForwardClock: MonotonicClock {
    private let ahead = Atomic<Int64>(0)

    func now() -> Int64 { TestClock().now() + self.ahead.load(ordering: .relaxed) }
    func forward(seconds: Int64) { self.ahead.add(seconds * 1_000_000_000, ordering: .relaxed) }
}
