package import Logging
package import MediaTypes
package import Program
package import Threading
import Synchronization

/// Objects that every change of a room's scenes uses; made once for each room.
package final class SceneParts: Sendable {
    let program: ProgramStage
    /// The program's times.
    package let times: ProgramTimes
    let logger: Logger
    let saved: any SceneMemory
    let emit: @Sendable (String, KeyValuePairs<String, JSONValue>) -> Void
    /// Locked while a scene is built and put on air; see ``SceneChanges/change(_:)``.
    let turn = Mutex<Void>(())
    /// Wakes the scenes' thread.
    let wake: any ClockSemaphore
    /// Wakes the life's thread.
    package let lifeWake: any ClockSemaphore

    /// - Parameters:
    ///   - machine: The clock that the program's clock follows.
    ///   - saved: Saves changes for the next worker.
    ///   - emit: Emits an event of the room: its type and its members.
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
