package import Encoding
import MediaTypes
package import Program

/// Measures how far the loops of a room are behind its clock: the program and its encoders.
package struct LoopMonitor: Sendable {
    private let host: any APIHost
    private let clock: ProgramClock
    private let program: ProgramStage
    private let ladder: EncodingStage
    private let fps: Int

    /// - Parameters:
    ///   - clock: The clock of the program.
    ///   - fps: Frames per second of the canvas.
    package init(
        _ host: any APIHost, _ clock: ProgramClock, _ program: ProgramStage, _ ladder: EncodingStage, fps: Int
    ) {
        (self.host, self.clock, self.program, self.ladder, self.fps) = (host, clock, program, ladder, fps)
    }

    /// How far the loops are behind the clock, in a room whose program runs. A loop counts as without progress from the
    /// first call that finds it at its current position.
    ///
    /// - Parameter firstTick: The first tick of this worker.
    package func lags(since firstTick: Int64) -> LoopLags {
        guard let now = self.clock.now() else { return LoopLags() }
        let (tick, machine) = (self.program.tick, self.host.clocks.machine.now())
        let behind = max(0, now &- TimeMath.scale(tick, by: TimeMath.nanoseconds, over: Int64(self.fps)))
        // Before its first frame, an encoder counts as being at the first tick of the program.
        let entered = self.ladder.renditions.isEmpty ? nil : self.ladder.control.enteredByAll ?? firstTick
        let encoders = entered.map { self.lag(ofEncodersAt: $0, now: now) }
        return self.host.withAPI { state in
            var lags = LoopLags(
                tick: LoopLags.Loop(behind: behind, still: state.loops.tick.standstill(at: tick, now: machine)))
            if let entered, let encoders {
                lags.encoder = LoopLags.Loop(
                    behind: encoders, still: state.loops.encoder.standstill(at: entered, now: machine))
            }
            return lags
        }
    }

    /// Number of ticks that the program has composed and that at least one encoder has not started.
    ///
    /// - Parameter firstTick: The first tick of this worker.
    package func unencodedTicks(since firstTick: Int64) -> Int64 {
        guard !self.ladder.renditions.isEmpty else { return 0 }
        return max(0, self.program.tick - (self.ladder.control.enteredByAll ?? firstTick - 1))
    }

    /// How far the program is behind its clock, in nanoseconds; 0 before it runs and while the room ends.
    package var programLag: Int64 {
        guard self.host.isLive, let now = self.clock.now() else { return 0 }
        return LoopLags.behind(showing: self.program.tick, fps: self.fps, now: now)
    }

    /// The lag of the slowest encoder, in nanoseconds; nil until every encoder has received its first frame, and while
    /// the room ends.
    package var encoderLag: Int64? {
        guard self.host.isLive, let now = self.clock.now(), let entered = self.ladder.control.enteredByAll else {
            return nil
        }
        return self.lag(ofEncodersAt: entered, now: now)
    }

    /// How far encoders that have started a tick are behind the room's clock, in nanoseconds. The time until the next
    /// frame, and one tick on its way to the encoder, do not count as lag.
    private func lag(ofEncodersAt entered: Int64, now: Int64) -> Int64 {
        // A rendition with half the frame rate has a frame at every second tick, and each frame reaches the encoder
        // within one tick.
        let step = self.ladder.renditions.map { Int64($0.frameStep) }.max() ?? 1
        let due = TimeMath.scale(entered &+ step &+ 1, by: TimeMath.nanoseconds, over: Int64(self.fps))
        return max(0, now &- due)
    }
}
