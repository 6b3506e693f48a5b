import Program
import Threading

/// Converts between the room's clocks. Room time is origin + program time once the program runs, and the wall clock
/// before: nanoseconds since the Unix epoch, the same for the next worker.
struct RoomTimes: Sendable {
    let clock: ProgramClock
    let clocks: Clocks

    /// Room time now.
    var now: Int64 {
        guard let origin = self.clock.origin, let program = self.clock.now() else { return self.clocks.wall.now() }
        return origin &+ program
    }

    /// Converts a time of the machine's clock to room time.
    func room(ofMachine time: Int64) -> Int64 { self.now &+ (time &- self.clocks.machine.now()) }

    /// Converts a time of the wall clock to room time.
    func room(ofWall time: Int64) -> Int64 { self.now &+ (time &- self.clocks.wall.now()) }

    /// Converts a room time to the machine's clock.
    func machine(ofRoom time: Int64) -> Int64 { self.clocks.machine.now() &+ (time &- self.now) }
}
