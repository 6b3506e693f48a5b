import HLS
package import MediaTypes
package import Program

/// Converts between program ticks, program time, the clock of ``SceneSelector`` and dates.
package struct ProgramTimes: Sendable {
    private let program: ProgramStage
    private let machine: any MonotonicClock
    /// Ticks per second, 1…60.
    package let fps: Int
    /// Whether the program is an offline job, which steps through files instead of following the monotonic clock.
    package let isOffline: Bool

    /// - Parameters:
    ///   - machine: The monotonic clock that the program's clock follows.
    ///   - fps: Ticks per second, 1…60.
    package init(_ program: ProgramStage, machine: any MonotonicClock, fps: Int, isOffline: Bool) {
        self.program = program
        self.machine = machine
        self.fps = fps
        self.isOffline = isOffline
    }

    /// The current time on the clock of ``SceneSelector``, in nanoseconds. It is the monotonic clock, from which
    /// program time differs by a constant; offline it is the program time of the next tick.
    package var lifeTime: Int64 { self.isOffline ? self.time(of: self.program.tick + 1) : self.machine.now() }

    /// The current program time in nanoseconds, offline that of the tick on air; nil before a live program runs.
    package var programTime: Int64? { self.isOffline ? self.time(of: self.program.tick) : self.program.clock.now() }

    /// Program time of a tick, in nanoseconds.
    package func time(of tick: Int64) -> Int64 {
        TimeMath.scale(tick, by: TimeMath.nanoseconds, over: Int64(self.fps))
    }

    /// Converts a time on the clock of ``SceneSelector`` to program time; nil before a live program runs.
    func programTime(ofLife time: Int64) -> Int64? { self.isOffline ? time : self.program.clock.program(of: time) }

    /// The first tick at or after a time on the clock of ``SceneSelector``; nil before a live program runs.
    package func tick(ofLife time: Int64) -> Int64? {
        self.programTime(ofLife: time).map {
            TimeMath.scale($0, by: Int64(self.fps), over: TimeMath.nanoseconds, rounding: .up)
        }
    }

    /// The program date-time for a time on the clock of ``SceneSelector``, as JSON for an event.
    ///
    /// - Parameter origin: Wall clock time of program time 0, in nanoseconds since the Unix epoch.
    /// - Returns: Null if `time` or `origin` is nil, and before a live program runs.
    package func date(ofLife time: Int64?, origin: Int64?) -> JSONValue {
        guard let time, let origin, let program = self.programTime(ofLife: time) else { return .null }
        return .string(ProgramDate.format(origin &+ program))
    }
}
