package import Logging
package import MediaTypes
package import Program
package import Threading
import Synchronization

/// The objects that every change of a room's scenes uses. Made once per room.
package final class SceneParts: Sendable {
    let program: ProgramStage
    /// Converts between ticks, program time and dates.
    package let times: ProgramTimes
    let logger: Logger
    let saved: any SceneMemory
    let emit: @Sendable (String, KeyValuePairs<String, JSONValue>) -> Void
    /// Locked while a scene is built and put on air; see ``SceneChanges/change(_:)``.
    let turn = Mutex<Void>(())
    /// Wakes the thread that applies pending scene changes.
    let wake: any ClockSemaphore
    /// Wakes the life thread.
    package let lifeWake: any ClockSemaphore

    /// - Parameters:
    ///   - machine: The monotonic clock that the program's clock follows.
    ///   - saved: Saves changes for the next worker.
    ///   - emit: Emits an event of the room, given its type and its members.
    package init(
        _ program: ProgramStage, _ times: ProgramTimes, _ saved: any SceneMemory, machine: any SleepClock,
        logger: Logger,
        emit: @escaping @Sendable (String, KeyValuePairs<String, JSONValue>) -> Void
    ) {
        self.program = program
        self.times = times
        self.saved = saved
        self.logger = logger
        self.emit = emit
        self.wake = machine.makeSemaphore()
        self.lifeWake = machine.makeSemaphore()
    }
}
