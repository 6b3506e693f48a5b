import Program
import Threading

/// Converts between the clocks of a room. Room time is nanoseconds since the Unix epoch: origin + program time once the
/// program runs, the wall clock before. It is the same in the next worker.
struct RoomTimes: Sendable {
    let clock: ProgramClock
    let clocks: Clocks

    /// The current room time.
    var now: Int64 {
        guard let origin = self.clock.origin, let program = self.clock.now() else { return self.clocks.wall.now() }
        return origin &+ program
    }

    /// Converts a time of the monotonic clock to room time.
    func room(ofMachine time: Int64) -> Int64 { self.now &+ (time &- self.clocks.machine.now()) }

    /// Converts a time of the wall clock to room time.
    func room(ofWall time: Int64) -> Int64 { self.now &+ (time &- self.clocks.wall.now()) }

    /// Converts a room time to the monotonic clock.
    func machine(ofRoom time: Int64) -> Int64 { self.clocks.machine.now() &+ (time &- self.now) }
}
