import LibAV
import MediaKernels
import MediaTypes
import PipelineSpec
import Program
import RoomSources

extension Room {
    /// Between two looks at the sources' health.
    private static let healthInterval = TimeMath.nanoseconds

    /// Looks at the room's loops, and at how every source comes in, once a second; on the thread of the life.
    ///
    /// - Parameter last: When it last looked.
    func watchHealth(_ last: inout Int64) {
        let now = self.machine.now()
        guard now &- last >= Self.healthInterval else { return }
        last = now
        // A standstill counts from the first look at it.
        _ = self.isAlive
        let overload = self.overload
        // Half of its limit is what an attempt to leave out less is given up at.
        self.decoding.watchHealth(
            now: now, lag: self.programLag, isWorkerBehind: overload.lag > overload.rules.limit / 2)
        self.noteAlarms()
    }

    /// Between two looks at the memory of packets: in this time every GOP and every segment there is comes and goes.
    private static let releaseInterval = 60 * TimeMath.nanoseconds

    /// Gives back memory of packets that nobody has needed lately, and what is free inside the heaps; on the thread of the life.
    ///
    /// - Parameter last: When that was done last.
    func releaseMemory(_ last: inout Int64) {
        let now = self.machine.now()
        guard now &- last >= Self.releaseInterval else { return }
        last = now
        PacketAllocator.releaseUnused()
        LibAV.trimHeaps()
    }

    /// How far the program is behind its clock, in nanoseconds; 0 before it runs.
    var programLag: Int64 {
        guard self.state == .live, let now = self.clock.now() else { return 0 }
        return LoopLags.behind(showing: self.program.tick, fps: self.fps, now: now)
    }
}

extension Room {
    /// One line for people: `live, 2 of 2 sources, 3 s on air, 0 late`.
    package var statusLine: String {
        let slots = self.pipeline.sources.compactMap { self.slots[$0.id] }
        let live = slots.filter { $0.state == .live }.count
        let stats = self.program.stats
        return "\(self.phaseState.rawValue), \(live) of \(slots.count) sources live, "
            + "\(stats.ticks / Int64(max(1, self.fps))) s on air, \(stats.late) pictures late"
    }
}
