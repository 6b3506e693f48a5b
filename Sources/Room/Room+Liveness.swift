package import Control
package import RoomAPI

extension Room {
    package var health: HealthReport {
        let state = self.state
        let lags = self.loopLags
        return HealthReport(
            live: lags.isAlive, ready: state == .waiting || state == .live, started: state != .starting,
            state: self.phaseState.rawValue, checks: lags.checks)
    }

    /// Whether the room's threads make progress. A lack of media does not count.
    package var isAlive: Bool { self.loopLags.isAlive }

    private var loopLags: LoopLags {
        let (state, firstTick, stopUntil) = self.value.withLock {
            ($0.lifecycle.state, $0.lifecycle.firstTick, $0.lifecycle.stopUntil)
        }
        if state == .ending || state == .draining {
            return LoopLags(overdue: stopUntil.map { self.machine.now() &- $0 })
        }
        return state == .live ? self.loops.lags(since: firstTick) : LoopLags()
    }

    var loops: LoopMonitor { LoopMonitor(self, self.clock, self.program, self.ladder, fps: self.fps) }

    /// Number of ticks that the program has composed and that at least one encoder has not started; 0 if the room is not
    /// live.
    package var unencodedTicks: Int64 {
        let (state, firstTick) = self.value.withLock { ($0.lifecycle.state, $0.lifecycle.firstTick) }
        return state == .live ? self.loops.unencodedTicks(since: firstTick) : 0
    }

    /// The latest end of a room that begins to stop now, on the monotonic clock.
    func stopDeadline() -> Int64 {
        let milliseconds = Int64(self.pipeline.shutdown.endTimeoutMs)
        // A drained room continues to the end of its current segment.
        let segment = Int64(self.packager?.targetDuration ?? 0) &* 1_500
        return self.machine.now() &+ (milliseconds &+ segment) &* 1_000_000 &+ LoopLags.endMargin
    }

    /// The room's state as reported to a service manager.
    package var serviceView: ServiceNotices.View {
        let (state, stopUntil, outcome) = self.value.withLock {
            ($0.lifecycle.state, $0.lifecycle.stopUntil, $0.lifecycle.outcome)
        }
        var hasFailed = false
        if case .failed? = outcome { hasFailed = true }
        let phase: ServiceNotices.Phase =
            switch state {
            case .starting: .starting
            case .waiting, .live: .ready
            case .ending, .draining: .stopping(until: stopUntil ?? .min)
            case .closed:
                self.value.withLock(\.lingering.until).map { .stopping(until: $0 &+ LoopLags.endMargin) } ?? .over
            }
        return ServiceNotices.View(
            phase: phase, status: self.statusLine, isAlive: self.isAlive, hasFailed: hasFailed,
            reloads: self.value.withLock { $0.api.reloads })
    }

    /// One line for people, such as `live, 2 of 2 sources live, 3 s on air, 0 frames late`.
    private var statusLine: String {
        let roomSources = self.pipeline.sources.compactMap { self.roomSources[$0.id] }
        let live = roomSources.filter { $0.state == .live }.count
        let stats = self.program.stats
        return "\(self.phaseState.rawValue), \(live) of \(roomSources.count) sources live, "
            + "\(stats.ticks / Int64(max(1, self.fps))) s on air, \(stats.late) frames late"
    }
}
