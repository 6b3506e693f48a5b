package import MediaTypes
import Program
import RoomAPI
package import RoomScenes
package import RoomSources

/// The life thread of the room: handles events of sources and due times (see ``SceneChanges``), and checks overload,
/// health and idleness.
extension Room {
    /// Longest time between two polls in nanoseconds: a stalled source is noticed at most this late.
    private static let pollInterval: Int64 = 50_000_000

    /// The current time on the clock of ``SceneSelector``, in nanoseconds; see ``ProgramTimes/lifeTime``.
    package var lifeTime: Int64 { self.sceneParts.times.lifeTime }

    /// The current program time in nanoseconds; nil before the program runs.
    package var programTime: Int64? { self.sceneParts.times.programTime }

    func time(of tick: Int64) -> Int64 { self.sceneParts.times.time(of: tick) }

    /// Queues an event for the life thread; see ``SceneChanges/note(_:at:announce:)``. Returns at once.
    func note(_ event: SceneSelector.Event, at time: Int64, announce: (@Sendable () -> Void)? = nil) {
        self.scenes.note(event, at: time, announce: announce)
    }

    func finishLife() {
        self.value.withLock { $0.isLifeThreadOver = true }
        self.sceneParts.lifeWake.signal()
    }

    /// Runs the life thread until ``finishLife()`` is called. Blocks.
    func runLife() {
        var health = self.machine.now()
        var memory = MemoryRelease(now: health)
        var idle = RoomIdle(hasHadSource: self.packager?.hasPublishedBefore == true, since: self.restoration.idleSince)
        let began = health
        var pause = OptionalWorkPause()
        var isOnProbation = true
        while true {
            let now = self.machine.now()
            let (deadline, isOver) = self.value.withLock {
                ($0.scenes.life.deadline(after: now), $0.isLifeThreadOver)
            }
            if isOver { return }
            self.sceneParts.lifeWake.wait(for: min(Self.pollInterval, max(0, (deadline ?? .max) &- now)))
            self.stepLife()
            self.overload.step(encoderLag: self.loops.encoderLag)
            let paused = pause.step(self.overload.current, at: self.machine.now())
            self.overload.setPaused(paused)
            self.overlays.step(isPaused: paused.contains(.overlays))
            self.outputStages.watched?.step(
                isOverloaded: self.overload.current.taken > 0, isLive: self.isLive)
            self.watchHealth(&health)
            self.stepModeration()
            memory.step(now: self.machine.now())
            self.watchIdle(&idle)
            if isOnProbation, now &- began > Resumption.probation {
                isOnProbation = false
                self.saved.endProbation()
            }
        }
    }

    /// Emits measured audio levels, passes pending events and the current time to ``SceneSelector``, and updates the room's
    /// phase.
    func stepLife() {
        self.tellLevels()
        let isSomethingDue = self.scenes.poll { self.roomSources.mapValues(\.timedArrivals) }
        self.watchPhase()
        if self.isOffline {
            // Offline, everything happens between two ticks, so that the result depends only on the files.
            self.scenes.settleOffline()
        } else if isSomethingDue {
            self.scenes.requestSettling()
        }
    }

    /// Emits the audio levels that were measured since the last call, and who has begun or stopped speaking.
    func tellLevels() {
        self.tellSpeaking()
        guard self.value.withLock({ $0.api.levels.hasUntold }) else { return }
        var untold: [AudioLevels] = []
        untold.reserveCapacity(AudioLevelReports.limit)
        self.value.withLock { $0.api.levels.takeUntold(leaving: &untold) }
        for levels in untold { self.events.emit(levels: levels) }
    }

    private func tellSpeaking() {
        let (changes, origin) = self.value.withLock { value -> ([SpeakingChange], Int64?) in
            guard value.api.speaking.hasUntold else { return ([], nil) }
            return (value.api.speaking.takeUntold(), value.lifecycle.origin)
        }
        guard !changes.isEmpty else { return }
        let sampleRate = self.sharedPipeline.pipeline.audio.sampleRate
        for change in changes { self.events.emit(speaking: change, origin: origin, sampleRate: sampleRate) }
    }

    // MARK: Events of sources

    package func sourceChanged(
        _ id: SourceID, _ change: SourceStateMachine.Change, _ life: SourceStateMachine?, _ context: ScenesContext
    ) {
        let source = self.roomSources[id]
        source?.setState(change.to)
        // The last frame of a silent source is repeated for a limited time and then replaced by a placeholder. A new
        // frame ends this.
        if change.to == .stalled || change.to == .live {
            source?.buffer.setSilent(since: life?.silentSince.flatMap { self.clock.program(of: $0) })
        }
        if change.to == .lost { source?.setError(change.reason) }
        self.saved.record(id, change, graceUntil: life?.graceUntil)
        // `lost_final`: the room no longer waits for the source.
        let type = change.to == .gone ? "source.lost_final" : "source.\(change.to.rawValue)"
        self.events.emit(
            type,
            [
                "uid": .string(id.description), "state": .string(change.to.rawValue),
                "from": .string(change.from.rawValue), "reason": .string(change.reason),
                "picture": change.to == .live ? JSONValue(source?.format?.description) : .null,
                "graceUntil": self.sceneParts.times.date(
                    ofLife: change.awaitsPublisher ? life?.graceUntil : nil, origin: context.origin),
                "playable": change.to == .live ? .bool(context.isPlayable) : .null,
            ])
    }
}
