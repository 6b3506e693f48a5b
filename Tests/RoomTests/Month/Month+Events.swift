import MediaTypes
import Room
import RoomScenes
import RoomSources

/// Actions of publishers, operators and the machine.
extension Month {
    mutating func carryOut(_ plan: Plan) {
        switch plan.kind {
        case .connect(let source): self.connect(source)
        case .arrive(let source):
            guard self.runs(plan, source) else { return }
            self.publishers[source]?.hasArrived = true
            self.tell(source, .arrived)
        case .picture(let source):
            guard self.runs(plan, source) else { return }
            self.tell(source, .firstFrameDecoded)
            self.planNext(source)
        case .silence(let source):
            guard self.runs(plan, source) else { return }
            self.publishers[source]?.silentSince = self.now
            // Half of them end before any source is given up.
            let seconds: ClosedRange<Int64> = self.chance(50) ? 0...10 : 10...40
            let ends = self.chance(60)
            self.plan(ends ? .resume(source) : .leave(source), in: seconds, of: source)
        case .resume(let source):
            guard self.runs(plan, source) else { return }
            self.publishers[source]?.silentSince = nil
            self.look()
            self.planNext(source)
        case .leave(let source):
            if self.runs(plan, source) { self.leave(source, "connection closed") }
        case .drain(let source): if self.isOfThisWorker(plan) { self.tell(source, .drained) }
        case .command: self.command()
        case .commands:
            self.command()
            self.plan(.commands, in: 5...300)
        case .death: self.die()
        }
    }

    private func runs(_ plan: Plan, _ source: SourceID) -> Bool {
        self.publishers[source].map { $0.isConnected && $0.publication == plan.publication } ?? false
    }

    /// Only this worker's decoders can finish: packets that a dead worker had not decoded are lost.
    private func isOfThisWorker(_ plan: Plan) -> Bool { plan.publication >= self.firstPublication }

    mutating func tell(_ source: SourceID, _ event: SourceStateMachine.Event) {
        self.note(self.life.receive(.source(source, event), now: self.lifeTime))
        self.check()
    }

    // MARK: Publishers

    private mutating func connect(_ source: SourceID) {
        guard self.publishers[source]?.isConnected == false else { return }
        let refusal = self.refusals.refusal(of: source, at: self.now)
        let isPromised = self.promised[source].map { self.now < $0.until } ?? false
        if (refusal != nil) != isPromised {
            self.fault("\(source) is \(refusal == nil ? "admitted" : "refused"); promised: \(isPromised)")
        }
        guard refusal == nil else {
            self.tally.refusedPublishers += 1
            return self.plan(.connect(source), in: 1...60)
        }
        self.tally.admitted += 1
        self.hasHadSource = true
        self.publishers[source]?.isConnected = true
        self.publishers[source]?.hasArrived = false
        self.publishers[source]?.silentSince = nil
        self.nextPublication += 1
        self.publishers[source]?.publication = self.nextPublication
        self.tell(source, .published)
        self.watchIdle()
        self.plan(.arrive(source), at: self.now + 100_000_000, of: source)
        // The decoder finishes the publication before first.
        let picture = max(self.now + 300_000_000, (self.publishers[source]?.drainedAt ?? 0) + 1)
        if self.chance(5) {
            self.plan(.leave(source), in: 0...20, of: source)
        } else {
            self.plan(.picture(source), at: picture, of: source)
        }
    }

    /// Plans the next action of a live publisher.
    private mutating func planNext(_ source: SourceID) {
        let isSilence = self.chance(40)
        self.plan(isSilence ? .silence(source) : .leave(source), in: 5...1_200, of: source)
    }

    mutating func leave(_ source: SourceID, _ reason: String) {
        guard self.publishers[source]?.isConnected == true else { return }
        let drained = max(self.now + self.span(0...2), self.publishers[source]?.drainedAt ?? 0)
        self.plan(.drain(source), at: drained, of: source)
        self.publishers[source]?.isConnected = false
        self.publishers[source]?.silentSince = nil
        self.publishers[source]?.drainedAt = drained
        self.publishers[source]?.leftAt = self.now
        self.tell(source, .left(reason: reason))
        self.watchIdle()
        self.planReturn(source)
    }

    /// Most publishers return within the grace, some later, and some after the room has ended.
    mutating func planReturn(_ source: SourceID) {
        switch Int.random(in: 0..<20, using: &self.random) {
        case 0...11: self.plan(.connect(source), in: 0...14)
        case 12...17: self.plan(.connect(source), in: 15...300)
        default: self.plan(.connect(source), in: 300...4_000)
        }
    }

    // MARK: Commands

    private mutating func command() {
        let source = self.chance(50) ? Kit.a : Kit.b
        switch Int.random(in: 0..<14, using: &self.random) {
        case 0...4:
            let countdown = self.chance(50) ? 0 : self.span(1...10)
            // Sometimes the PK lasts until a command.
            let duration = self.chance(10) ? 0 : self.span(1...300)
            let punish = self.chance(40) ? 0 : self.span(1...60)
            self.commandPK { life, now throws(PKStateMachine.Refusal) in
                try life.startPK(countdown: countdown, duration: duration, punish: punish, now: now)
            }
        case 5: self.commandPK { life, now throws(PKStateMachine.Refusal) in try life.punishPK(now: now) }
        case 6: self.commandPK { life, now throws(PKStateMachine.Refusal) in try life.endPK(now: now) }
        case 7:
            let scene = self.life.scenes.randomElement(using: &self.random) ?? Kit.solo
            self.note(self.life.receive(.commanded(scene), now: self.lifeTime))
            self.state.onAir = CommandedState.Showing(scene: self.life.wanted.sceneID, tick: 0)
            self.state.revision += 1
        case 8...9: self.kick(source)
        case 10...11:
            let isCovered = self.state.sources[source]?.videoPush == false
            self.state.change(source) { $0.videoPush = isCovered ? nil : false }
            self.state.revision += 1
        default:
            let isMuted = self.state.sources[source]?.audioPush == false
            self.state.change(source) { $0.audioPush = isMuted ? nil : false }
            self.state.revision += 1
        }
        self.check()
    }

    private mutating func commandPK(
        _ change: (inout SceneSelector, Int64) throws(PKStateMachine.Refusal) -> [SceneSelector.Action]
    ) {
        let (phases, onAir) = (self.life.phases, self.life.planned)
        do throws(PKStateMachine.Refusal) {
            self.note(try change(&self.life, self.lifeTime))
            self.state.revision += 1
        } catch {
            self.tally.refusedCommands += 1
            if self.life.phases != phases || self.life.planned != onAir {
                self.fault("a command that was refused (\(error.what)) has changed something")
            }
        }
    }

    private mutating func kick(_ source: SourceID) {
        let seconds = [0, 0, 10, 60, 600, 3_600].randomElement(using: &self.random) ?? 0
        let end = seconds == 0 ? nil : self.now + Int64(seconds) * Self.second
        self.refusals.removeEnded(at: self.now)
        switch self.refusals.kick(source, until: end) {
        case .refused, .lifted: self.state.change(source) { $0.refusedUntil = end }
        case .quarantined: break
        }
        if let end {
            let old = self.promised[source]
            let isLonger = old.map { $0.isQuarantine && $0.until > end } ?? false
            if !isLonger { self.promised[source] = (end, false) }
        } else {
            self.promised[source] = nil
        }
        self.state.revision += 1
        self.leave(source, "kicked")
    }
}
