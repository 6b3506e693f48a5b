package import Control
import MediaTypes

extension Room {
    package var health: HealthReport {
        let state = self.state
        let lags = self.loopLags
        return HealthReport(
            live: lags.isAlive, ready: state == .waiting || state == .live, started: state != .starting,
            state: self.phaseState.rawValue, checks: lags.checks)
    }

    /// Whether the room's loops advance. Missing media does not matter.
    package var isAlive: Bool { self.loopLags.isAlive }

    private var loopLags: LoopLags {
        let (state, firstTick, stopUntil) = self.value.withLock {
            ($0.lifecycle.state, $0.lifecycle.firstTick, $0.lifecycle.stopUntil)
        }
        if state == .ending || state == .draining {
            return LoopLags(overdue: stopUntil.map { self.machine.now() &- $0 })
        }
        guard state == .live, let now = self.clock.now() else { return LoopLags() }
        let (tick, machine) = (self.program.tick, self.machine.now())
        let behind = max(0, now &- self.time(of: tick))
        // Before its first frame, an encoder counts as being at the program's first tick.
        let entered = self.ladder.rungs.isEmpty ? nil : self.ladder.control.enteredByAll ?? firstTick
        let encoders = entered.map { self.lag(ofEncodersAt: $0, now: now) }
        return self.value.withLock { value in
            var lags = LoopLags(
                tick: LoopLags.Loop(behind: behind, still: value.loopProgress.tick.standstill(at: tick, now: machine)))
            if let entered, let encoders {
                lags.encoder = LoopLags.Loop(
                    behind: encoders, still: value.loopProgress.encoder.standstill(at: entered, now: machine))
            }
            return lags
        }
    }

    /// Ticks that the program has shown but not every encoder has received; 0 before the program runs.
    package var unencodedTicks: Int64 {
        let (state, firstTick) = self.value.withLock { ($0.lifecycle.state, $0.lifecycle.firstTick) }
        guard state == .live, !self.ladder.rungs.isEmpty else { return 0 }
        return max(0, self.program.tick - (self.ladder.control.enteredByAll ?? firstTick - 1))
    }

    /// The deadline for a room that begins to stop now, on the machine's clock.
    func stopDeadline() -> Int64 {
        let milliseconds = Int64(self.pipeline.shutdown.endTimeoutMs)
        // A drained room continues to the end of its segment.
        let segment = Int64(self.packager?.targetDuration ?? 0) &* 1_500
        return self.machine.now() &+ (milliseconds &+ segment) &* 1_000_000 &+ LoopLags.endMargin
    }

    /// The room's state for a service manager.
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
            reloads: self.value.withLock { $0.reloads })
    }

    /// The lag of encoders that have received the frames up to a tick, in nanoseconds, without the usual time that a
    /// frame takes.
    func lag(ofEncodersAt entered: Int64, now: Int64) -> Int64 {
        // A rendition at half the rate has a frame every other tick; each takes up to one step.
        let step = self.ladder.rungs.map { Int64($0.frameStep) }.max() ?? 1
        return max(0, now &- self.time(of: entered &+ step &+ 1))
    }
}
