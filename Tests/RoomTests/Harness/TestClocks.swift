import MediaTypes
import Threading

/// The time of day, which goes on as a ``TestClock`` does.
struct TestWallClock: WallClock {
    let clock: TestClock
    /// What the time of day is ahead of the clock, in nanoseconds.
    let offset: Int64

    /// - Parameter now: Nanoseconds since the Unix epoch.
    init(_ clock: TestClock, now: Int64) {
        self.clock = clock
        self.offset = now - clock.now()
    }

    func now() -> Int64 { self.clock.now() &+ self.offset }
}

/// A process that uses no CPU time.
struct IdleCPUClock: MonotonicClock {
    func now() -> Int64 { 0 }
}
