import MediaTypes
import Room
import RoomScenes
import RoomSources

/// The invariants.
extension Month {
    /// Records the actions of SceneSelector and what a successor needs, as the room does.
    mutating func note(_ actions: [SceneSelector.Action]) {
        var hasPhase = false
        for action in actions {
            switch action {
            case .tell(let source, let change): self.note(source, change)
            case .pkReady:
                if ![Kit.a, Kit.b].allSatisfy({ self.life.sources[$0]?.isPresent == true }) {
                    self.fault("the PK is ready without its sources")
                }
            case .phase(let change):
                hasPhase = true
                self.note(change)
            case .show(let show):
                if show.scene == self.shown.scene, show.without == self.shown.without {
                    self.fault("\(show.text) is reported twice")
                }
                self.shown = show
            }
        }
        guard hasPhase else { return }
        let (phases, offset) = (self.life.phases, self.offset)
        let isKept = phases.isRunning || self.life.hasStartedItself
        self.state.pk =
            isKept
            ? CommandedState.PK(
                phase: phases.phase, since: phases.since + offset, endsAt: phases.endsAt.map { $0 + offset },
                durations: phases.durations, hasStartedItself: self.life.hasStartedItself) : nil
        self.state.onAir = CommandedState.Showing(scene: self.life.wanted.sceneID, tick: 0)
    }

    private mutating func note(_ source: SourceID, _ change: SourceStateMachine.Change) {
        let publisher = self.publishers[source] ?? Publisher()
        switch change.to {
        case .gone:
            self.tally.gone += 1
            if publisher.isConnected { self.fault("\(source) is gone though it is connected") }
            self.state.change(source) { $0.graceUntil = 0 }
        case .reconnecting:
            let end = self.life.sources[source]?.graceUntil.map { $0 + self.offset }
            self.state.change(source) { $0.graceUntil = end }
        case .live:
            if !publisher.isConnected || change.from == .stalled && publisher.silentSince != nil {
                self.fault("\(source) is live without media: \(change.reason)")
            }
            self.state.change(source) { $0.graceUntil = nil }
        case .stalled:
            self.tally.stalls += 1
            let silence = publisher.silentSince.map { self.now - $0 } ?? 0
            if silence <= Kit.rules.stall ?? 0 { self.fault("\(source) is stalled after \(silence) ns of silence") }
        case .idle, .connected, .publishing, .lost, .ended: break
        }
    }

    private mutating func note(_ change: PKStateMachine.Change) {
        let at = change.at + self.offset
        let allowed: [PKStateMachine.Phase: Set<PKStateMachine.Phase>] = [
            .idle: [.countdown, .pk], .countdown: [.pk, .idle], .pk: [.punish, .idle], .punish: [.idle],
        ]
        if change.from != self.phase || allowed[change.from]?.contains(change.to) != true {
            self.fault("\(change.from) → \(change.to), though the phase is \(self.phase)")
        }
        if (change.to == .idle) != (change.reason != nil) { self.fault("\(change.to) for \(change.reason as Any)") }
        // A phase ends either at its own end, to the nanosecond, or now and before that.
        let isTimed = at == self.phaseEnd
        if !isTimed, at != self.now || self.phaseEnd.map({ self.now >= $0 }) ?? false {
            self.fault("\(change.from) → \(change.to) at \(at), its end is \(self.phaseEnd ?? 0), now is \(self.now)")
        }
        if (change.reason == .timer) != (isTimed && change.to == .idle) {
            self.fault("the PK has ended for \(change.reason as Any)")
        }
        switch change.reason {
        case nil: if change.from == .idle { self.tally.starts += 1 }
        case .timer: self.tally.timerEnds += 1
        case .command: self.tally.commandEnds += 1
        case .sourceGone: self.tally.lossEnds += 1
        }
        self.phase = change.to
        self.phaseEnd = change.endsAt.map { $0 + self.offset }
    }

    // MARK: After each event

    mutating func check() {
        let onAir = self.life.planned
        let scene = onAir.scene
        if self.shown.scene != onAir.scene || self.shown.without != onAir.without {
            self.fault("\(onAir.text) is on air and was not told")
        }
        // (1) of SceneSelector.
        if self.life.phases.phase != self.phase { self.fault("\(self.life.phases.phase) has begun and was not told") }
        // (2)
        let isEmpty = scene.sources.allSatisfy { self.life.sources[$0]?.isAbsent == true }
        if isEmpty, scene != self.life.wanted, !self.life.sources.values.allSatisfy(\.isAbsent) {
            self.fault("\(scene.sceneID) shows nobody, and nobody asked for it")
        }
        // (3)
        if self.life.sources.values.allSatisfy({ $0.state == .live }),
            scene != self.life.wanted || !onAir.without.isEmpty
        {
            self.fault("everybody is back, and \(onAir.text) is on air, not \(self.life.wanted.sceneID)")
        }
        // (4)
        if onAir.without.count >= Set(scene.sources).count { self.fault("no pane is left") }
        guard self.life.phases.isRunning else { return }
        for (source, life) in self.life.sources where life.state == .gone || life.isGivenUp {
            self.fault("the PK goes on without \(source)")
        }
    }

    /// Checks after a poll.
    mutating func checkAfterLook() {
        self.check()
        if let end = self.life.phases.endsAt, end <= self.lifeTime { self.fault("the phase has outlived its end") }
        for (source, publisher) in self.publishers {
            guard let life = self.life.sources[source] else { continue }
            if life.isGivenUp {
                let silence = publisher.silentSince.map { self.now - $0 } ?? 0
                if publisher.isConnected, silence < Kit.rules.grace {
                    self.fault("\(source) is given up after \(silence) ns of silence")
                }
            }
            if let left = publisher.leftAt, !publisher.isConnected, life.state == .reconnecting,
                self.now >= left + Kit.rules.grace
            {
                self.fault("\(source) is waited for beyond its grace")
            }
        }
        let givenUp = self.life.sources.values.count { $0.isGivenUp }
        if givenUp > self.lastGivenUp { self.tally.givenUp += 1 }
        self.lastGivenUp = givenUp
    }

    // MARK: Rooms without publishers

    /// Checks whether any source publishes, as the room does after each poll.
    mutating func watchIdle() {
        let isAnybodyThere = self.publishers.values.contains(where: \.isConnected)
        if isAnybodyThere {
            self.emptySince = nil
        } else if self.emptySince == nil {
            self.emptySince = self.now
        }
        let end = self.idle.noted(isAnybodyThere: isAnybodyThere, Self.idleRules, now: self.lifeTime)
        self.state.idleSince = self.idle.since.map { $0 + self.offset }
        let isDue = self.emptySince.map { since in self.idleLimit.map { self.now >= since + $0 } ?? false } ?? false
        if (end != nil) != isDue {
            self.fault("the room is \(end == nil ? "not over" : "over"), and has to be: \(isDue)")
        }
        if end != nil { self.beginAnew() }
    }
}
