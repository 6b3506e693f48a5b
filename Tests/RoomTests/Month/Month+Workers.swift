import MediaTypes
import PipelineSpec
import Room
import RoomScenes
import RoomSources

/// Workers that crash, and the state that their successors resume.
extension Month {
    /// Kills the worker. Its successor starts up to a minute later and restores the commanded state.
    mutating func die() {
        let before = self.state
        let wanted = self.life.wanted
        self.now += self.span(0...60)
        self.tally.successors += 1
        guard let reading = CommandedState.read(before.bytes), reading.state == before, reading.problems.isEmpty else {
            return self.fault("what was written is not what is read")
        }
        self.state = reading.state
        for source in [Kit.a, Kit.b] {
            if before.sources[source]?.videoPush == false { self.tally.coversOverDeaths += 1 }
            if self.state.sources[source]?.videoPush != before.sources[source]?.videoPush {
                self.fault("\(source) is not covered any more")
            }
            if self.publishers[source]?.isConnected == true { self.planReturn(source) }
            self.publishers[source]?.isConnected = false
            self.publishers[source]?.silentSince = nil
            self.publishers[source]?.drainedAt = 0
            // The grace counts from before only if the publisher had already left.
            if self.state.sources[source]?.graceUntil == nil { self.publishers[source]?.leftAt = nil }
        }
        self.firstPublication = self.nextPublication + 1
        // The next machine has another uptime.
        self.offset = self.now - self.span(1...1_000_000)
        self.polledAt = nil
        self.restoreRefusals()
        self.restoreLife(wanted)
        self.idle = RoomIdle(
            hasHadSource: self.hasHadSource, since: self.state.idleSince.map { min(self.lifeTime, $0 - self.offset) })
        self.look()
        self.plan(.death, in: 60...6_000)
    }

    /// Kicks are stored. Sometimes a source has crashed the worker, and is quarantined.
    private mutating func restoreRefusals() {
        let quarantined: SourceID? = self.chance(20) ? (self.chance(50) ? Kit.a : Kit.b) : nil
        self.refusals = SourceRefusals()
        for (source, known) in self.state.sources {
            guard let until = known.refusedUntil else { continue }
            if !self.refusals.restoreKick(of: source, until: until, now: self.now) {
                self.state.change(source) { $0.refusedUntil = nil }
            }
        }
        // Only kicks are stored here; quarantines are stored elsewhere.
        for (source, promise) in self.promised where promise.isQuarantine && self.now < promise.until {
            self.refusals.quarantine(source, until: promise.until, codec: "h264")
        }
        guard let quarantined else { return }
        let end = self.now + 300 * Self.second
        self.refusals.quarantine(quarantined, until: end, codec: "h264")
        let old = self.promised[quarantined]
        if (old?.until ?? 0) <= end { self.promised[quarantined] = (end, true) }
    }

    private mutating func restoreLife(_ wanted: Scene) {
        self.life = self.freshLife()
        if let scene = self.state.onAir?.scene, !self.life.resume(scene) { self.fault("\(scene) is not restored") }
        for (source, known) in self.state.sources {
            guard let until = known.graceUntil else { continue }
            self.life.resumeLost(source, until: until > 0 ? until - self.offset : nil, now: self.lifeTime)
        }
        if let pk = self.state.pk {
            let isRestored = self.life.resumePK(
                pk.phase, since: pk.since - self.offset, endsAt: pk.endsAt.map { $0 - self.offset },
                durations: pk.durations, hasStartedItself: pk.hasStartedItself)
            if !isRestored { self.fault("the PK is not restored") }
        }
        self.shown = self.life.planned
        if self.state.onAir != nil, self.life.wanted != wanted {
            self.fault("\(wanted.sceneID) is not asked for any more")
        }
        if self.life.phases.phase != self.phase { self.fault("\(self.phase) was not restored") }
        if self.life.phases.endsAt.map({ $0 + self.offset }) != self.phaseEnd { self.fault("another end is restored") }
        if self.life.phases.isRunning { self.tally.phasesOverDeaths += 1 }
        if let end = self.phaseEnd, end <= self.now { self.tally.endsBehindDeaths += 1 }
    }

    /// The room has ended, and another one starts.
    mutating func beginAnew() {
        self.tally.rooms += 1
        if self.phase != .idle { self.tally.roomEnds += 1 }
        self.state = CommandedState(roomID: "month", salt: "00")
        self.life = self.freshLife()
        self.shown = self.life.planned
        (self.phase, self.phaseEnd, self.promised, self.hasHadSource) = (.idle, nil, [:], false)
        self.refusals = SourceRefusals()
        self.idle = RoomIdle(hasHadSource: false)
        (self.emptySince, self.polledAt) = (nil, nil)
        self.firstPublication = self.nextPublication + 1
        for source in [Kit.a, Kit.b] {
            self.publishers[source]?.leftAt = nil
            self.publishers[source]?.drainedAt = 0
        }
        self.watchIdle()
    }
}
