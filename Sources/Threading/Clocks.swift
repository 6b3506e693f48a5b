package import MediaTypes

/// A monotonic clock that a thread can sleep on.
package protocol SleepClock: MonotonicClock {
    /// Blocks the calling thread until `now()` has reached `deadline`; returns immediately if it has already.
    func sleep(until deadline: Int64)
    /// Makes a semaphore whose timeouts are measured by this clock.
    func makeSemaphore() -> any ClockSemaphore
}

/// A clock that tells the time of day.
package protocol WallClock: Sendable {
    /// Nanoseconds since the Unix epoch. The clock may be set while the process runs, so time can go back.
    func now() -> Int64
}

/// The clocks that a room reads. The command-line tool passes ``system``; a test may pass clocks that it advances
/// itself.
package struct Clocks: Sendable {
    /// Monotonic time, for ticks, deadlines and latencies.
    package var machine: any SleepClock
    /// Time of day, for dates in events and playlists and for the expiry of keys, certificates and rejections.
    package var wall: any WallClock
    /// CPU time of the whole process so far.
    package var processCPU: any MonotonicClock

    package init(machine: any SleepClock, wall: any WallClock, processCPU: any MonotonicClock) {
        self.machine = machine
        self.wall = wall
        self.processCPU = processCPU
    }

    /// The clocks of the machine and of this process.
    package static let system = Clocks(
        machine: SystemClock(), wall: SystemWallClock(), processCPU: SystemProcessCPUClock())
}
