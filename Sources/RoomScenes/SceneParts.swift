package import Logging
package import MediaTypes
package import Program
package import Threading
import Synchronization

/// What every change of a room's scenes uses; made once for each room.
package final class SceneParts: Sendable {
    let program: ProgramStage
    /// The program's times.
    package let times: ProgramTimes
    let logger: Logger
    let emit: @Sendable (String, KeyValuePairs<String, JSONValue>) -> Void
    /// Held while a scene is built and put on air; see ``SceneChanges/change(_:)``.
    let turn = Mutex<Void>(())
    /// Wakes the scenes' thread.
    let wake: any ClockSemaphore
    /// Wakes the life's thread.
    package let lifeWake: any ClockSemaphore

    /// - Parameters:
    ///   - machine: The clock that the program's clock follows.
    ///   - emit: Emits an event of the room: its type and its members.
    package init(
        _ program: ProgramStage, _ times: ProgramTimes, machine: any SleepClock, logger: Logger,
        emit: @escaping @Sendable (String, KeyValuePairs<String, JSONValue>) -> Void
    ) {
        self.program = program
        self.times = times
        self.logger = logger
        self.emit = emit
        self.wake = machine.makeSemaphore()
        self.lifeWake = machine.makeSemaphore()
    }
}
