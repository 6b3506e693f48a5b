import LibAV
import MediaKernels
import MediaTypes

extension Room {
    /// Time between two health checks of the sources, in nanoseconds.
    private static let healthInterval = TimeMath.nanoseconds

    /// Checks the room's loops and the health of every source once a second; on the life's thread.
    ///
    /// - Parameter last: When it last ran.
    func watchHealth(_ last: inout Int64) {
        let now = self.machine.now()
        guard now &- last >= Self.healthInterval else { return }
        last = now
        // A standstill is measured from the first check that sees it.
        _ = self.isAlive
        self.decoding.watchHealth(
            now: now, lag: self.loops.programLag, isWorkerBehind: self.value.withLock(\.overload.isBehind))
        self.noteAlarms()
    }

    /// Time between two releases of unused packet memory, in nanoseconds: within it every GOP and segment in memory is
    /// replaced.
    private static let releaseInterval = 60 * TimeMath.nanoseconds

    /// Releases packet memory that was not used lately, and free memory inside the heaps; on the life's thread.
    ///
    /// - Parameter last: When it last ran.
    func releaseMemory(_ last: inout Int64) {
        let now = self.machine.now()
        guard now &- last >= Self.releaseInterval else { return }
        last = now
        PacketAllocator.releaseUnused()
        LibAV.trimHeaps()
    }
}
