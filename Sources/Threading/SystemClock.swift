import Libc
import MediaTypes

/// The machine's clocks, in nanoseconds.
package struct SystemClock: SleepClock {
    package init() {}

    /// Time of CLOCK_MONOTONIC: it never jumps, and continues while the process is stopped.
    package func now() -> Int64 { Self.read(CLOCK_MONOTONIC) }

    /// Time of CLOCK_REALTIME: nanoseconds since the Unix epoch, as set on this machine.
    package static func wallClock() -> Int64 { self.read(CLOCK_REALTIME) }

    /// CPU time of the whole process so far, in nanoseconds.
    package static func processCPU() -> Int64 { self.read(CLOCK_PROCESS_CPUTIME_ID) }

    /// Sleeps until ``now()`` reaches `deadline`; returns immediately if it has passed.
    package func sleep(until deadline: Int64) {
        guard deadline > self.now() else { return }
        var target = timespec()
        target.tv_sec = Int(deadline / TimeMath.nanoseconds)
        target.tv_nsec = Int(deadline % TimeMath.nanoseconds)
        // EINTR is the only possible failure with these arguments: continue to sleep until the same absolute time.
        while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &target, nil) == EINTR {}
    }

    private static func read(_ id: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(id, &time)
        return Int64(time.tv_sec) &* TimeMath.nanoseconds &+ Int64(time.tv_nsec)
    }
}

/// The machine's time of day (``SystemClock/wallClock()``) as a ``WallClock``.
package struct SystemWallClock: WallClock {
    package init() {}
    package func now() -> Int64 { SystemClock.wallClock() }
}

/// The CPU time of this process (``SystemClock/processCPU()``) as a `MonotonicClock`.
package struct SystemProcessCPUClock: MonotonicClock {
    package init() {}
    package func now() -> Int64 { SystemClock.processCPU() }
}
