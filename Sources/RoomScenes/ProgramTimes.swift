import HLS
package import MediaTypes
package import Program

/// Converts between the program's ticks, program time, the clock of ``SceneSelector`` and dates.
package struct ProgramTimes: Sendable {
    private let program: ProgramStage
    private let machine: any MonotonicClock
    /// Ticks per second, 1…60.
    package let fps: Int
    /// Whether the program steps through files instead of following the machine's clock.
    package let isOffline: Bool

    /// - Parameters:
    ///   - machine: The clock that the program's clock follows.
    ///   - fps: Ticks per second, 1…60.
    package init(_ program: ProgramStage, machine: any MonotonicClock, fps: Int, isOffline: Bool) {
        self.program = program
        self.machine = machine
        self.fps = fps
        self.isOffline = isOffline
    }

    /// Now on the clock of ``SceneSelector``, in nanoseconds: the machine's clock, which program time follows at a fixed distance;
    /// offline the time of the next tick.
    package var lifeTime: Int64 { self.isOffline ? self.time(of: self.program.tick + 1) : self.machine.now() }

    /// Program time now, in nanoseconds; `nil` before the program runs.
    package var programTime: Int64? { self.isOffline ? self.time(of: self.program.tick) : self.program.clock.now() }

    /// Program time of a tick, in nanoseconds.
    package func time(of tick: Int64) -> Int64 {
        TimeMath.scale(tick, by: TimeMath.nanoseconds, over: Int64(self.fps))
    }

    /// Program time of a time on the clock of ``SceneSelector``; `nil` before the program runs.
    func programTime(ofLife time: Int64) -> Int64? { self.isOffline ? time : self.program.clock.program(of: time) }

    /// The first tick that is not before a time on the clock of ``SceneSelector``; `nil` before the program runs.
    package func tick(ofLife time: Int64) -> Int64? {
        self.programTime(ofLife: time).map {
            TimeMath.scale($0, by: Int64(self.fps), over: TimeMath.nanoseconds, rounding: .up)
        }
    }

    /// The program date-time of a time on the clock of ``SceneSelector``, as JSON for an event.
    ///
    /// - Parameter origin: Nanoseconds since the Unix epoch at program time zero.
    /// - Returns: Null without a time or an origin, and before the program runs.
    package func date(ofLife time: Int64?, origin: Int64?) -> JSONValue {
        guard let time, let origin, let program = self.programTime(ofLife: time) else { return .null }
        return .string(ProgramDate.format(origin &+ program))
    }
}
