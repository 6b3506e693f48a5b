import Dispatch
package import LibAV
package import MediaTypes
package import Threading
import Synchronization

/// The room's tick loop: outputs one composed frame and the audio of the same time span on every tick.
///
/// States: waiting (until ``start(at:)``) → running → finished. A live program never waits for a source: if a source
/// has no new frame, its last frame is repeated, then its placeholder is shown; missing audio is silence. An offline
/// program waits for its input files instead of the clock.
package final class ProgramStage: Sendable {
    package struct Source: Sendable {
        package var buffer: SourceBuffer
        /// Text of the card that is shown when the source has no frame, or its frame must not be shown.
        package var name: String
        /// Factor for the source's audio, 0…2; 1 leaves the audio unchanged.
        package var volume: Float
        /// How long the last frame of a disconnected source stays visible, in nanoseconds.
        package var hold: Int64
        /// How long the last frame of a connected source that sends nothing stays visible, in nanoseconds; `nil`: until
        /// it sends again. See ``SourceBuffer/setSilent(since:)``.
        package var stalledHold: Int64?
        /// Image that is shown instead of the card.
        package var placeholder: Picture?
        /// Whether the source's audio is heard in every scene, also without a pane, and never counts as speaking.
        package var isBackground = false
        /// Duration of the fades of the source's audio from and to silence, in milliseconds; 0: that of every other
        /// change of volume.
        package var fadeMs = 0

        package init(
            buffer: SourceBuffer, name: String, volume: Float, hold: Int64, stalledHold: Int64? = nil,
            placeholder: Picture?
        ) {
            self.buffer = buffer
            self.name = name
            self.volume = volume
            self.hold = hold
            self.stalledHold = stalledHold
            self.placeholder = placeholder
        }
    }

    package struct Settings: Sendable {
        package var canvas: Canvas
        package var sampleRate: Int
        package var rampMs: Int
        package var isOffline: Bool
        /// Number of ticks after which the program ends; `nil`: no limit.
        package var durationTicks: Int64?
        /// Sources that lower the volume of all other sources while their users speak; `nil`: no ducking.
        package var ducking: Ducking?
        /// Milliseconds between two level reports; 0 turns level metering off.
        package var levelIntervalMs = 0
        /// Length of an output segment in ticks. The canvas may change its size only at the first tick of a segment.
        package var segmentTicks: Int64 = 1
        /// Whether the program has only audio: then no frames are selected or composed.
        package var isAudioOnly = false
        /// Whether changes of who speaks are reported from the start, and which users are lowered while others speak;
        /// see ``ProgramStage/setSpeaking(_:duck:)``.
        package var reportsSpeaking = false
        package var duck: Ducking?

        package init(canvas: Canvas, sampleRate: Int, rampMs: Int, isOffline: Bool, durationTicks: Int64?) {
            self.canvas = canvas
            self.sampleRate = sampleRate
            self.rampMs = rampMs
            self.isOffline = isOffline
            self.durationTicks = durationTicks
        }
    }

    /// Callbacks that receive the program. All of them are called on the program thread.
    package struct Outputs: Sendable {
        /// Receives the canvas of each tick that has one. `arrival` is the program time at which the newest source frame in
        /// it was received; `nil` if no publisher's frame is shown for the first time. Returns `false` if the encoders'
        /// queue is full: the tick is then lost.
        package var picture: @Sendable (_ picture: Picture, _ tick: Int64, _ arrival: Int64?) -> Bool
        /// Receives 1,024 pairs of interleaved stereo samples and the position of the first, in sample pairs since
        /// `origin`.
        package var audio: @Sendable (_ block: [Float], _ position: Int64) -> Void
        /// Called when the program has ended; `tick` is the first tick that is not part of the program, 0 if it was
        /// stopped before it started.
        package var finished: @Sendable (_ tick: Int64) -> Void
        /// Receives the full-canvas source of a tick, before the canvas of that tick.
        package var shown: (@Sendable (_ tick: Int64, _ view: FullCanvasSource) -> Void)?
        /// Receives the scene's largest source of a tick and the sources that commands have covered, before the
        /// canvas of that tick and after `shown`.
        package var captioned: (@Sendable (_ tick: Int64, _ largest: SourceID?, _ hidden: Set<SourceID>) -> Void)?
        /// Receives the audio levels, every ``Settings/levelIntervalMs``.
        package var levels: @Sendable (_ levels: AudioLevels) -> Void = { _ in }
        /// Called when a source has begun or stopped speaking.
        package var speaking: @Sendable (_ change: SpeakingChange) -> Void = { _ in }
        /// Called at every tick of a program that has only audio, instead of `picture`.
        package var ticked: @Sendable (_ tick: Int64) -> Void = { _ in }

        /// Called with `true` when the program begins to make up for missed ticks, and with `false` when it has ended
        /// doing so. In between, the consumers should wait for queue space instead of dropping video and audio.
        package var catchingUp: @Sendable (Bool) -> Void

        package init(
            picture: @escaping @Sendable (_ picture: Picture, _ tick: Int64, _ arrival: Int64?) -> Bool,
            audio: @escaping @Sendable (_ block: [Float], _ position: Int64) -> Void,
            finished: @escaping @Sendable (_ tick: Int64) -> Void,
            catchingUp: @escaping @Sendable (Bool) -> Void = { _ in }
        ) {
            self.picture = picture
            self.audio = audio
            self.finished = finished
            self.catchingUp = catchingUp
        }
    }

    /// Counters of the program.
    package struct Stats: Sendable, Equatable {
        /// Ticks that this worker has run: one per frame of the program.
        package var ticks: Int64 = 0
        /// Ticks that began more than half a tick after they were due, without those due before the program began.
        package var late: Int64 = 0
        /// Ticks whose canvas was not passed to the encoders: their queue was full, or there was no canvas.
        package var lost: Int64 = 0
        /// For each source: panes that showed its previous frame again because it had no new one, over all ticks with a
        /// composed canvas.
        package var repeated: [SourceID: Int64] = [:]
        /// For each source: panes that showed its video or its card, over all ticks with a composed canvas.
        package var shown: [SourceID: Int64] = [:]
        /// Number of changes of the scene on air.
        package var switches: Int64 = 0
        /// Ticks whose canvas could not be composed; the previous canvas was shown again.
        package var failures = 0
        /// Longest time that a change of scene or of format took on the program thread, in nanoseconds.
        package var longestSwap: Int64 = 0
    }

    /// State that the program thread shares with control threads.
    struct Shared {
        var roster: Roster
        var volumes: [SourceID: Float]
        var audioDirty = true
        var muted: Set<SourceID> = []
        var hidden: Set<SourceID> = []
        var tick: Int64 = 0
        var stopAt: Int64?
        var stats = Stats()
        var audioPosition: Int64 = 0
        /// Whether the program reports who speaks; see ``ProgramStage/setSpeaking(_:duck:)``.
        var reportsSpeaking = false
        var duck: Ducking?
        /// Sources that are heard in every scene.
        var background: Set<SourceID> = []
        /// Duration of the fades of sources that have their own, in sample pairs.
        var fades: [SourceID: Int64] = [:]
    }

    package let clock: ProgramClock
    private let settings: Settings
    /// Raw value of the current ``OverloadFrameMode``.
    let frameModeValue = Atomic<Int>(0)
    /// Sources on air whose decoded frames are not needed; see ``setUnseen(_:)``.
    let unseen = Mutex<KeyFrameSources>(.none)
    private let outputs: Outputs
    /// Clock on which the program thread sleeps.
    let machine: any SleepClock
    let shared: Mutex<Shared>
    private let started = DispatchSemaphore(value: 0)
    private let begin = Mutex<Int64?>(nil)
    /// Holds the scene on air and the content of its text and score decorations.
    package let scheduler: SceneScheduler
    /// Plays animations over the canvas of a live program.
    package let overlays: OverlayPlayer

    /// Creates the program of a room; it waits until ``start(at:)``.
    ///
    /// - Parameter machine: The clock that `clock` follows; the program thread sleeps on it until a tick is due.
    package init(
        settings: Settings, sources: [SourceID: Source], scene: Scene, clock: ProgramClock, machine: any SleepClock,
        outputs: Outputs, fonts: SceneFonts = .builtIn
    ) {
        self.settings = settings
        self.clock = clock
        self.outputs = outputs
        self.machine = machine
        self.shared = Mutex(
            Shared(
                roster: Roster(sources: sources), volumes: sources.mapValues(\.volume),
                reportsSpeaking: settings.reportsSpeaking, duck: settings.duck))
        self.overlays = OverlayPlayer(fps: settings.canvas.fps, sampleRate: settings.sampleRate)
        self.scheduler = SceneScheduler(
            canvas: settings.canvas, scene: scene,
            faces: sources.mapValues(\.face), fonts: fonts,
            isOffline: settings.isOffline, segmentTicks: settings.segmentTicks, isAudioOnly: settings.isAudioOnly)
        for (id, source) in sources {
            self.setBackground(id, source.isBackground, fadeMs: source.fadeMs)
            self.watchFormats(of: id, source)
        }
    }

    // MARK: Control, from any thread

    package var stats: Stats { self.shared.withLock { $0.stats } }
    package var scene: Scene { self.scheduler.scene }
    package var tick: Int64 { self.shared.withLock { $0.tick } }
    /// Position up to which the audio is mixed, in sample pairs.
    package var audioPosition: Int64 { self.shared.withLock { $0.audioPosition } }

    /// Sets a source's volume (0…2), whether it is audible, and whether it is visible; `nil` leaves a value unchanged.
    /// The panes of a source that is not visible show its card from the next tick on.
    package func setSource(_ source: SourceID, volume: Float?, audioPush: Bool?, videoPush: Bool?) {
        self.shared.withLock { shared in
            if let volume { shared.volumes[source] = min(2, max(0, volume)) }
            if let audioPush { if audioPush { shared.muted.remove(source) } else { shared.muted.insert(source) } }
            if let videoPush { if videoPush { shared.hidden.remove(source) } else { shared.hidden.insert(source) } }
            shared.audioDirty = true
        }
    }

    /// Sets whether the program reports who speaks, and which users are lowered while others speak, from the next tick
    /// on.
    ///
    /// - Parameters:
    ///   - isReported: Whether the program reports who speaks. If not, sources that speak are reported to have stopped.
    ///   - duck: Its users are lowered while any other user speaks; if it has no users, then the users of background
    ///     sources are. `nil`: no user is lowered.
    package func setSpeaking(_ isReported: Bool, duck: Ducking?) {
        self.shared.withLock { shared in
            (shared.reportsSpeaking, shared.duck) = (isReported, duck)
            shared.audioDirty = true
        }
    }

    /// Sets whether a source is heard in every scene, and the duration of its fades in milliseconds, from the next tick
    /// on; see ``Source/isBackground`` and ``Source/fadeMs``.
    package func setBackground(_ source: SourceID, _ isBackground: Bool, fadeMs: Int) {
        let pairs = Int64(max(0, fadeMs)) &* Int64(self.settings.sampleRate) / 1000
        self.shared.withLock { shared in
            if isBackground { shared.background.insert(source) } else { shared.background.remove(source) }
            shared.fades[source] = pairs > 0 ? pairs : nil
            shared.audioDirty = true
        }
    }

    /// Volume, audibility and visibility of a source.
    package struct Contribution: Sendable, Hashable {
        /// Factor for the source's audio, 0…2; 1 leaves the audio unchanged.
        package var volume: Float
        package var isHeard: Bool
        package var isSeen: Bool
    }

    /// The contribution of a source as last set by the pipeline or by a command. A pane's own volume overrides this
    /// volume.
    package func contribution(of source: SourceID) -> Contribution {
        self.shared.withLock { shared in
            Contribution(
                volume: shared.volumes[source] ?? 1, isHeard: !shared.muted.contains(source),
                isSeen: !shared.hidden.contains(source))
        }
    }

    /// Sets the tick that ``start(at:)`` will begin with. Called before the clock starts, so that a successor's program does not
    /// look late by the age of the room until its first tick.
    package func prepare(at first: Int64) { self.shared.withLock { $0.tick = first } }

    /// Starts the program with tick `first`; ``clock`` defines when that tick is due. Only the first call has an
    /// effect.
    package func start(at first: Int64) {
        let fresh = self.begin.withLock { begin -> Bool in
            guard begin == nil else { return false }
            begin = first
            return true
        }
        if fresh { self.started.signal() }
    }

    /// Ends the program before the next tick whose number is a multiple of `ticks`; with 1, after the tick on air.
    package func stop(atMultipleOf ticks: Int64 = 1) {
        self.shared.withLock { shared in
            let unit = max(1, ticks)
            shared.stopAt = min(shared.stopAt ?? .max, (shared.tick + unit) / unit * unit)
        }
        self.started.signal()
    }

    private var shouldStop: Bool { self.shared.withLock { $0.stopAt != nil } }

    // MARK: The program thread

    /// Program time at which a tick begins, rounded to the nanosecond.
    func time(of tick: Int64) -> Int64 {
        TimeMath.scale(tick, by: TimeMath.nanoseconds, over: Int64(self.settings.canvas.fps))
    }

    /// Position of the first sample pair of a tick.
    private func position(of tick: Int64) -> Int64 {
        TimeMath.scale(
            tick, by: Int64(self.settings.sampleRate), over: Int64(self.settings.canvas.fps), rounding: .down)
    }

    /// Delay with which the audio of an inaudible live source is metered, in milliseconds, so that late audio is
    /// metered too.
    private static let silentLagMs: Int64 = 400

    /// Runs the program to its end. Blocks; call it on a thread of its own.
    package func run() {
        self.started.wait()
        guard let first = self.begin.withLock({ $0 }) else {
            self.outputs.finished(0)
            return
        }
        self.scheduler.prepareOnAir()
        if self.settings.isOffline { SchedulerSlice.offline.requestForThisThread() }
        var worker = ProgramWorker(
            sources: self.beginSources(), player: SceneCompositor(scheduler: self.scheduler, machine: self.machine),
            mixer: AudioMixer(
                start: self.position(of: first),
                rampPairs: Int64(self.settings.rampMs * self.settings.sampleRate / 1000),
                sampleRate: Int64(self.settings.sampleRate), ducking: self.settings.ducking,
                measures: self.settings.levelIntervalMs > 0,
                silentLag: self.settings.isOffline ? 0 : Int64(self.settings.sampleRate) * Self.silentLagMs / 1000))
        let interval = self.time(of: 1)
        // The first ticks of a successor process were due before the process started; do not count them as late.
        let begun = self.clock.now() ?? 0
        var tick = first
        while true {
            let due = self.time(of: tick)
            self.noteNeeds(of: worker.sources, at: tick, in: worker.mixer, presence: &worker.presence)
            if self.settings.isOffline {
                if self.isOver(tick, first, worker.sources) { break }
                self.awaitSources(
                    worker.sources, due, audioUntil: self.position(of: tick), needsPicture: !self.settings.isAudioOnly)
                if self.isOver(tick, first, worker.sources) { break }
            } else {
                if tick > first { self.mixRest(of: tick - 1, interval, &worker) }
                self.pace(due, interval, begun, &worker.catchUp)
                if self.isOver(tick, first, worker.sources) { break }
            }
            self.changeSources(&worker)
            self.run(tick, due, interval, &worker)
            tick += 1
        }
        let end = self.position(of: tick) + AudioMixer.blockPairs - 1
        // The last block extends beyond the last tick. A job that is shorter than its files has audio there.
        if self.settings.isOffline {
            self.awaitSources(worker.sources, self.time(of: tick), audioUntil: end, needsPicture: false)
        }
        self.mix(until: end, &worker)
        self.endSources()
        self.overlays.close(at: tick)
        self.scheduler.close()
        self.outputs.finished(tick)
    }

    private func isOver(_ tick: Int64, _ first: Int64, _ sources: [SourceID: Source]) -> Bool {
        if let stop = self.shared.withLock({ $0.stopAt }), tick >= stop { return true }
        if let duration = self.settings.durationTicks, tick - first >= duration { return true }
        guard self.settings.isOffline else { return false }
        var end: Int64 = 0
        for source in sources.values {
            guard
                let time = source.buffer.endTime(
                    interval: self.time(of: 1), sampleRate: Int64(self.settings.sampleRate))
            else { return false }
            end = max(end, time)
        }
        return tick >= TimeMath.scale(end, by: Int64(self.settings.canvas.fps), over: TimeMath.nanoseconds)
    }

    /// Waits until the input files have delivered everything that a tick needs; see
    /// ``SourceBuffer/waitUntilReady(for:audioPosition:needsPicture:_:)``.
    ///
    /// - Parameter position: End of the audio that is mixed next, in sample pairs.
    private func awaitSources(
        _ sources: [SourceID: Source], _ due: Int64, audioUntil position: Int64, needsPicture: Bool
    ) {
        let audio = AudioMixer.wantedUntil(blockEnd: position)
        for source in sources.values {
            source.buffer.waitUntilReady(for: due, audioPosition: audio, needsPicture: needsPicture) {
                self.shouldStop
            }
        }
    }

    /// Sleeps until the tick is due; returns at once if it is overdue, so that no tick is missing after the process was
    /// stopped for a while, or got no CPU time. Counts late ticks, and reports when catching up begins and ends.
    private func pace(_ due: Int64, _ interval: Int64, _ begun: Int64, _ catchUp: inout CatchUp) {
        guard let zero = self.clock.zero else { return }
        self.machine.sleep(until: zero &+ due)
        let now = self.machine.now()
        let lag = now &- (zero &+ due)
        if lag > interval / 2, due >= begun { self.shared.withLock { $0.stats.late += 1 } }
        if catchUp.noted(lag: lag, at: now) { self.outputs.catchingUp(catchUp.isActive) }
    }

    private func run(_ tick: Int64, _ due: Int64, _ interval: Int64, _ worker: inout ProgramWorker) {
        let fresh = worker.player.advance(to: tick)
        let (hidden, audio) = self.shared.withLock { shared in
            shared.tick = tick
            if fresh != nil { shared.audioDirty = true }
            shared.stats.switches = worker.player.switches
            let audio: MixSettings? = shared.audioDirty ? MixSettings(shared, worker.player.scene) : nil
            shared.audioDirty = false
            return (shared.hidden, audio)
        }
        if let audio { audio.apply(to: &worker.mixer, of: worker.sources.keys, at: self.position(of: tick)) }
        if self.settings.isAudioOnly {
            self.runAudio(tick, &worker)
            return
        }
        let (picture, arrival) = self.compose(hidden, tick, due, interval, isNew: fresh != nil, &worker)
        self.outputs.captioned?(tick, worker.player.scene?.largestSource(without: hidden), hidden)
        if self.settings.isOffline {
            self.mixWhole(tick, &worker)
        } else {
            self.mix(until: self.position(of: tick, behind: 1), &worker)
        }
        let canvas = self.overlays.draw(over: picture, tick: tick)
        let kept = canvas.map { self.outputs.picture($0, tick, arrival) } ?? false
        self.shared.withLock { shared in
            shared.stats.ticks += 1
            if !kept { shared.stats.lost += 1 }
        }
    }

    /// Runs a tick of a program without video.
    private func runAudio(_ tick: Int64, _ worker: inout ProgramWorker) {
        // Without a canvas there is nothing to blend, so every change of scene is a cut.
        _ = worker.player.cutShort()
        if self.settings.isOffline {
            self.mixWhole(tick, &worker)
        } else {
            self.mix(until: self.position(of: tick, behind: 1), &worker)
        }
        self.outputs.ticked(tick)
        self.shared.withLock { $0.stats.ticks += 1 }
    }

    private func compose(
        _ hidden: Set<SourceID>, _ tick: Int64, _ due: Int64, _ interval: Int64, isNew: Bool,
        _ worker: inout ProgramWorker
    ) -> (Picture?, Int64?) {
        // Every source advances with every tick, on air or not, so that a source is at the current time when it comes
        // on air.
        var (selected, frames) = worker.takeTables()
        defer { worker.giveBack(&selected, &frames) }
        for (id, source) in worker.sources {
            let isSeen = !hidden.contains(id) && worker.player.shows(id)
            guard let selection = source.buffer.select(at: due, interval: interval, isSeen: isSeen) else { continue }
            selected[id] = selection
            if !source.isStale(selection, at: due) { frames[id] = selection.picture }
        }
        // With held frames a transition would stop half way and the requested scene would not be visible.
        let isCut = self.frameMode == .hold && worker.player.cutShort()
        let mayRepeat = !isNew && !isCut && hidden == worker.covered && self.repeatsPicture(at: tick)
        worker.covered = hidden
        if mayRepeat, let picture = worker.player.last {
            self.outputs.shown?(tick, self.view(worker.player, hidden, worker.sources, selected, due, interval))
            return (picture, nil)
        }
        let composed = worker.player.compose(tick: tick, frames: frames, covered: hidden)
        self.outputs.shown?(tick, self.view(worker.player, hidden, worker.sources, selected, due, interval))
        var arrival: Int64?
        var repeated: [SourceID] = []
        swap(&repeated, &worker.repeated)
        defer {
            repeated.removeAll(keepingCapacity: true)
            swap(&repeated, &worker.repeated)
        }
        for pane in composed.panes where !hidden.contains(pane.source) && frames[pane.source] != nil {
            guard let selection = selected[pane.source] else { continue }
            if !selection.isFresh {
                // If a source is passed through, only its key frames may be decoded; its viewers see all frames.
                if worker.sources[pane.source]?.buffer.need.isHidden == true { continue }
                repeated.append(pane.source)
            } else if let came = selection.arrival {
                arrival = max(arrival ?? .min, came)
            }
        }
        self.shared.withLock { shared in
            for source in repeated { shared.stats.repeated[source, default: 0] += 1 }
            for pane in composed.panes { shared.stats.shown[pane.source, default: 0] += 1 }
            shared.stats.failures = worker.player.failures
            shared.stats.longestSwap = worker.player.longestSwap
        }
        return (composed.picture, arrival)
    }

    private func mix(until end: Int64, _ worker: inout ProgramWorker) {
        let sources = worker.sources
        while worker.mixer.position + AudioMixer.blockPairs <= end {
            let position = worker.mixer.position
            let block = worker.mixer.nextBlock(overlays: self.overlays.isBusy ? self.overlays : nil) {
                source, range, target in
                sources[source]?.buffer.read(range, into: &target) ?? 0
            }
            self.outputs.audio(block, position)
            self.reportLevels(&worker)
            self.reportSpeaking(&worker)
        }
        let position = worker.mixer.position
        self.shared.withLock { $0.audioPosition = position }
    }
}

/// A source's audio is available only as far ahead as its jitter buffer is long. If a long tick were mixed completely
/// at its beginning, the end of its audio would be missing. Long ticks are therefore mixed in steps.
extension ProgramStage {
    /// Minimum number of mixing steps per second.
    private static let leastMixings: Int64 = 20

    /// Number of steps in which the audio of a tick is mixed.
    private var audioSteps: Int64 { Self.audioSteps(fps: Int64(max(1, self.settings.canvas.fps))) }

    /// Returns the number of steps in which the audio of a tick is mixed.
    ///
    /// - Parameter fps: Above 0.
    private static func audioSteps(fps: Int64) -> Int64 { max(1, (self.leastMixings + fps - 1) / fps) }

    /// How long before its program time the audio of a live source must be available, in nanoseconds: one mixing step
    /// plus the look-ahead of the limiter. 39 ms at 30 frames per second and 48 kHz.
    package static func audioLead(fps: Int, sampleRate: Int) -> Int64 {
        let fps = Int64(max(1, fps))
        let look = TimeMath.scale(
            AudioMixer.wantedUntil(blockEnd: 0), by: TimeMath.nanoseconds, over: Int64(max(1, sampleRate)))
        return TimeMath.nanoseconds / (fps * self.audioSteps(fps: fps)) + look
    }

    /// Position of the first sample pair after the given number of mixing steps of a tick.
    private func position(of tick: Int64, behind steps: Int64) -> Int64 {
        let (start, end) = (self.position(of: tick), self.position(of: tick + 1))
        return start + (end - start) * steps / self.audioSteps
    }

    /// Mixes all audio of a tick of an offline program. Waits for the audio step by step, because a file interleaves a
    /// long tick's audio with its video frame.
    private func mixWhole(_ tick: Int64, _ worker: inout ProgramWorker) {
        let next = self.time(of: tick + 1)
        for step in 1...self.audioSteps {
            let end = self.position(of: tick, behind: step)
            self.awaitSources(worker.sources, next, audioUntil: end, needsPicture: false)
            self.mix(until: end, &worker)
        }
    }

    /// Mixes the remaining steps of a tick, each when it is due.
    private func mixRest(of tick: Int64, _ interval: Int64, _ worker: inout ProgramWorker) {
        let steps = self.audioSteps
        guard steps > 1, let zero = self.clock.zero else { return }
        for step in 1..<steps {
            self.machine.sleep(until: zero &+ self.time(of: tick) &+ interval * step / steps)
            self.mix(until: self.position(of: tick, behind: step + 1), &worker)
        }
    }
}

extension ProgramStage {
    private func reportLevels(_ worker: inout ProgramWorker) {
        let interval = Int64(self.settings.levelIntervalMs * self.settings.sampleRate / 1000)
        guard interval > 0 else { return }
        let position = worker.mixer.position
        // A report is due when the block crossed a multiple of the interval.
        guard position / interval != (position &- AudioMixer.blockPairs) / interval else { return }
        self.outputs.levels(worker.mixer.levels())
    }

    private func reportSpeaking(_ worker: inout ProgramWorker) {
        guard !worker.mixer.speakingChanges.isEmpty else { return }
        for change in worker.mixer.takeSpeakingChanges() {
            worker.player.setSpeaking(change.isSpeaking, change.source)
            self.outputs.speaking(change)
        }
    }
}
