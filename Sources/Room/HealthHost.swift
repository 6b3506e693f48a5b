import MediaTypes
import RoomAPI
import RoomSources
import Threading

/// The parts of a room that watch its health.
protocol HealthHost: SourcesHost {
    var machine: any SleepClock { get }
    var value: RoomValue { get }
    var loops: LoopMonitor { get }
    var isAlive: Bool { get }
    func noteAlarms()
}

/// Time between two health checks of the sources, in nanoseconds.
private let healthInterval = TimeMath.nanoseconds

extension HealthHost {
    /// Checks the room's threads, the health of every source and the alarms once per second. Called on the life thread.
    ///
    /// - Parameter last: When the last check was made, on the monotonic clock.
    func watchHealth(_ last: inout Int64) {
        let now = self.machine.now()
        guard now &- last >= healthInterval else { return }
        last = now
        // Called for its effect: how long a thread has made no progress is measured from the first check that finds it.
        _ = self.isAlive
        self.decoding.watchHealth(
            now: now, lag: self.loops.programLag, isWorkerBehind: self.value.withLock(\.overload.isBehind))
        self.noteAlarms()
    }
}
