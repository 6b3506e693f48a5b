import MediaTypes
import Threading

/// The time of day, which advances with a ``TestClock``.
struct TestWallClock: WallClock {
    let clock: TestClock
    /// Time of day minus the clock's time, in nanoseconds.
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
