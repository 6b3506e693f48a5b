import LibAV
package import MediaTypes
import Synchronization
import Threading

/// A play of an overlay that has started or ended.
package struct OverlayReport: Sendable {
    package enum Event: Sendable, Equatable {
        case started
        /// The play has ended. `error`: why it was not played to its end; `nil` if it was.
        case ended(error: MediaError?)
        /// The play ended early, or never started, because the machine is overloaded.
        case overload
        /// The play ended early, or never started, because the program ended.
        case closed
    }

    /// Number of the play in this worker, from 1.
    package var id: Int64
    /// Name of the overlay.
    package var name: String
    package var event: Event
    /// The first tick that shows the play, or the first that does not show it any more; `nil`: it never started.
    package var tick: Int64?
    /// The tick at which the play was to start; `nil`: it was dropped while it waited in the queue.
    package var planned: Int64?
}

/// Plays animations over the program. While none is played, there is no thread and the program's frames and audio are
/// passed on untouched.
package final class OverlayPlayer: Sendable {
    /// Time from the decision that a play starts to its first tick, in milliseconds.
    package static let leadMs: Int64 = 500
    /// Largest number of reports that wait; beyond it the oldest are dropped.
    private static let mostReports = 256
    /// Largest number of threads, those included that a hanging file system holds after the end of their plays.
    private static let mostThreads = 16

    private struct State {
        var lineup: OverlayLineup
        var plays: [OverlayPlay] = []
        var started: Set<Int64> = []
        /// Plays that have ended, whose audio fades out with the next block.
        var fading: [OverlayPlay] = []
        var reports: [OverlayReport] = []
        var threads: [StageThread] = []
        /// Memory of the canvases that are drawn on; `nil` while there are none.
        var pool: CanvasPool?
        /// The tick at which the cache was cleaned last.
        var cleaned = Int64.min

        mutating func report(
            _ id: Int64, _ name: String, _ event: OverlayReport.Event, at tick: Int64?, planned: Int64?
        ) {
            if self.reports.count >= OverlayPlayer.mostReports { self.reports.removeFirst() }
            self.reports.append(OverlayReport(id: id, name: name, event: event, tick: tick, planned: planned))
        }

        /// Ends all plays, and reports `event` for each of them and for those in `waiting`.
        mutating func drop(_ waiting: [(id: Int64, name: String)], _ event: OverlayReport.Event, at tick: Int64) {
            for play in self.plays {
                self.report(
                    play.id, play.request.name, event, at: self.started.contains(play.id) ? tick : nil,
                    planned: play.startTick)
                play.stop()
            }
            for play in waiting { self.report(play.id, play.name, event, at: nil, planned: nil) }
            self.fading += self.plays.filter { self.started.contains($0.id) }
            (self.plays, self.started) = ([], [])
        }
    }

    private let fps: Int
    private let sampleRate: Int
    private let cache: SharedAnimations
    private let state: Mutex<State>
    private let busy = Atomic<Bool>(false)

    /// - Parameter cacheLimit: Largest number of bytes of the decoded animations that are kept; 0: none are.
    package init(fps: Int, sampleRate: Int, cacheLimit: Int = AnimationCache.usualLimit) {
        self.cache = SharedAnimations(AnimationCache(limit: cacheLimit))
        self.fps = max(1, fps)
        self.sampleRate = sampleRate
        let lead = TimeMath.scale(Self.leadMs, by: Int64(max(1, fps)), over: 1000, rounding: .up)
        self.state = Mutex(State(lineup: OverlayLineup(lead: lead)))
    }

    /// Whether a play is on air or about to start, so that the canvas is not that of the scene alone. One atomic read.
    package var isBusy: Bool { self.busy.load(ordering: .relaxed) }

    // MARK: Control, from any thread but the program's

    /// Accepts a play, or puts it in the queue.
    ///
    /// - Parameter tick: The current tick.
    package func play(
        _ request: OverlayRequest, at tick: Int64
    ) throws(OverlayLineup.Refusal) -> OverlayLineup.Outcome {
        let outcome = try self.state.withLock { state throws(OverlayLineup.Refusal) in
            try state.lineup.play(request, at: tick)
        }
        if case .starts(let id, let first) = outcome {
            self.start(OverlayLineup.Start(id: id, request: request, tick: first), now: tick)
        }
        return outcome
    }

    /// Starts the waiting plays for which there is space now, and returns them. Called regularly.
    ///
    /// - Parameter tick: The current tick.
    package func startWaiting(at tick: Int64) -> [OverlayLineup.Start] {
        let starts = self.state.withLock { $0.lineup.startWaiting(at: tick) }
        for start in starts { self.start(start, now: tick) }
        return starts
    }

    private func start(_ start: OverlayLineup.Start, now tick: Int64) {
        let play = OverlayPlay(start, now: tick, fps: self.fps, sampleRate: self.sampleRate, cache: self.cache)
        let isOn = self.state.withLock { state -> Bool in
            guard state.lineup.isActive(start.id) else {
                // Dropped since it was accepted.
                state.report(
                    start.id, start.request.name, state.lineup.isPaused ? .overload : .closed, at: nil,
                    planned: start.tick)
                return false
            }
            state.plays.append(play)
            self.busy.store(true, ordering: .relaxed)
            state.threads.removeAll { $0.join(within: 0) }
            guard state.threads.count < Self.mostThreads else {
                play.fail(
                    MediaError(
                        .unavailable, "the files of earlier plays are still being read",
                        at: "overlay[\(start.request.name)]", fix: "check the disk that has the files of the overlays"))
                return false
            }
            return true
        }
        guard isOn else { return }
        let thread = play.start()
        self.state.withLock { $0.threads.append(thread) }
    }

    /// Ends all plays while the machine is overloaded, and refuses new ones until it no longer is.
    ///
    /// - Parameter tick: The current tick.
    package func setPaused(_ isPaused: Bool, at tick: Int64) {
        self.state.withLock { state in
            guard state.lineup.isPaused != isPaused else { return }
            let dropped = state.lineup.setPaused(isPaused)
            if isPaused { state.drop(dropped, .overload, at: tick &+ 1) }
        }
    }

    /// Frees the decoded animations that were not played for a minute, and those whose overlay was removed. Called
    /// regularly.
    ///
    /// - Parameters:
    ///   - tick: The current tick.
    ///   - paths: Returns the files of all overlays. Called at most once a second, and only if animations are kept.
    package func cleanCache(at tick: Int64, paths: () -> Set<String>) {
        guard !self.cache.withLock({ $0.isEmpty }) else { return }
        let isDue = self.state.withLock { state in
            guard state.cleaned > tick || state.cleaned < tick &- Int64(self.fps) else { return false }
            state.cleaned = tick
            return true
        }
        guard isDue else { return }
        let known = paths()
        let now = TimeMath.scale(tick, by: TimeMath.nanoseconds, over: Int64(self.fps))
        self.cache.withLock { $0.clean(now: now, paths: known) }
    }

    /// Returns the reports since the last call, in order.
    package func takeReports() -> [OverlayReport] {
        self.state.withLock { state in
            defer { state.reports = [] }
            return state.reports
        }
    }

    // MARK: The program thread

    /// Returns the canvas of a tick with the overlays on air drawn over it; the canvas itself if there are none, or if
    /// there is no memory.
    func draw(over canvas: Picture?, tick: Int64) -> Picture? {
        guard self.isBusy else { return canvas }
        let (overlays, pool) = self.state.withLock { state -> ([Picture.Overlay], CanvasPool?) in
            var overlays: [Picture.Overlay] = []
            for play in state.plays {
                switch play.advance(to: tick) {
                case .early: continue
                case .shows(let overlay):
                    if state.started.insert(play.id).inserted {
                        state.report(
                            play.id, play.request.name, .started, at: play.startTick, planned: play.startTick)
                    }
                    if let overlay { overlays.append(overlay) }
                case .over(let error):
                    let hasStarted = state.started.contains(play.id)
                    state.report(
                        play.id, play.request.name, .ended(error: error), at: hasStarted ? tick : nil,
                        planned: play.startTick)
                    play.stop()
                    // The last pairs of its audio belong to the next block.
                    if hasStarted { state.fading.append(play) }
                    state.lineup.ended(play.id)
                }
            }
            if state.plays.contains(where: { !state.lineup.isActive($0.id) }) {
                state.plays.removeAll { !state.lineup.isActive($0.id) }
                state.started.formIntersection(state.plays.map(\.id))
            }
            if state.plays.isEmpty {
                state.pool = nil
                if state.fading.isEmpty { self.busy.store(false, ordering: .relaxed) }
            } else if let canvas, !overlays.isEmpty, state.pool?.format != canvas.format {
                state.pool = try? CanvasPool.open(canvas.format)
            }
            return (overlays, state.pool)
        }
        guard let canvas, !overlays.isEmpty else { return canvas }
        // Without memory for a copy, the frame is shown without the overlays.
        return (try? canvas.overlaid(with: overlays, in: pool)) ?? canvas
    }

    /// Adds the audio of the plays onto a block of the program's audio.
    func mix(_ range: Range<Int64>, onto target: inout [Float]) {
        let (plays, fading) = self.state.withLock { state in
            defer { state.fading = [] }
            return (state.plays, state.fading)
        }
        for play in plays { play.mix(range, onto: &target, isLast: false) }
        for play in fading { play.mix(range, onto: &target, isLast: true) }
    }

    /// Ends all plays when the program has ended, and waits a moment for their threads.
    func close(at tick: Int64) {
        let threads = self.state.withLock { state in
            state.drop(state.lineup.close(), .closed, at: tick)
            state.fading = []
            state.pool = nil
            self.busy.store(false, ordering: .relaxed)
            defer { state.threads = [] }
            return state.threads
        }
        self.cache.withLock { $0.close() }
        // Threads that a hanging file system holds are left behind, after one wait for all of them.
        var isHanging = false
        for thread in threads where !thread.join(within: isHanging ? 0 : 500_000_000) { isHanging = true }
    }
}
