package import MediaTypes
package import RoomSources

/// Passes events to ``SceneSelector`` and carries out its actions: emits events, puts scenes on air, and handles phases
/// of a PK.
///
/// In a live room the life thread does this when an event occurs or a time is due. Offline, the program thread does it
/// between two ticks on program time, so that the same job gives the same frames.
extension SceneChanges {
    /// Adds an event to ``ScenesState/inbox`` and wakes the life thread. Does not wait until the event is handled.
    ///
    /// - Parameters:
    ///   - time: When the event occurred, in nanoseconds of ``ProgramTimes/lifeTime``.
    ///   - announce: See ``PendingLifeEvent/announce``.
    package func note(_ event: SceneSelector.Event, at time: Int64, announce: (@Sendable () -> Void)? = nil) {
        let pending = PendingLifeEvent(event: event, time: time, announce: announce)
        self.host.withScenes { scenes, _ in scenes.inbox.append(pending) }
        self.parts.lifeWake.signal()
    }

    /// Passes the events in the inbox, and the current time, to ``SceneSelector``.
    ///
    /// - Parameter arrivals: Returns when media of each source last arrived; called once.
    /// - Returns: Whether ``ScenesState/work`` has changes to apply.
    package func poll(_ arrivals: () -> [SourceID: SourceStateMachine.Arrivals]) -> Bool {
        let inbox = self.host.withScenes { scenes, _ in
            defer { scenes.inbox.removeAll(keepingCapacity: true) }
            return scenes.inbox
        }
        let arrivals = arrivals()
        let (now, tick) = (self.times.lifeTime, self.program.tick)
        return self.host.withScenes { scenes, context in
            for pending in inbox {
                pending.announce?()
                self.receive(pending.event, at: pending.time, &scenes, context)
            }
            self.receive(.poll(arrivals), at: now, &scenes, context)
            if let next = scenes.schedule.upcoming.first, tick >= next.tick { scenes.work.isAdvanceDue = true }
            return !scenes.work.isEmpty
        }
    }

    /// Passes an event to ``SceneSelector``, emits the events that follow from it, and adds scene changes to
    /// ``ScenesState/work``. The caller has locked the room's state.
    package func receive(
        _ event: SceneSelector.Event, at time: Int64, _ scenes: inout ScenesState, _ context: ScenesContext
    ) {
        self.perform(scenes.life.receive(event, now: time), &scenes, context)
    }

    /// Carries out actions of ``SceneSelector``. The caller has locked the room's state, so that events are emitted in
    /// the order in which they occurred.
    private func perform(_ actions: [SceneSelector.Action], _ scenes: inout ScenesState, _ context: ScenesContext) {
        var isPhaseNew = false
        for action in actions {
            switch action {
            case .tell(let id, let change):
                self.host.sourceChanged(id, change, scenes.life.sources[id], context)
                if !self.times.isOffline { scenes.work.isLayoutDue = true }
            case .pkReady: self.emit("pk.ready", ["scene": JSONValue(scenes.life.pk?.scene)])
            case .phase(let change):
                isPhaseNew = true
                scenes.work.phases.append(change)
                self.announce(change, origin: context.origin)
            case .show: scenes.work.isShowDue = true
            }
        }
        guard isPhaseNew else { return }
        self.parts.saved.savePK(scenes.life)
        // Saved now, so that a successor shows the phase's scene even if this worker is killed before it has shown it.
        self.parts.saved.saveSchedule(scenes, context)
    }

    /// Changes the phase of the PK by a command, and puts the phase's scene on air.
    func commandPK(
        _ change: (inout SceneSelector, Int64) throws(PKStateMachine.Refusal) -> [SceneSelector.Action]
    ) throws(PKStateMachine.Refusal) {
        let now = self.times.lifeTime
        try self.host.withScenes { scenes, context throws(PKStateMachine.Refusal) in
            let actions = try change(&scenes.life, now)
            self.perform(actions, &scenes, context)
        }
        self.parts.lifeWake.signal()
        // The phase begins even if its scene cannot be composed.
        self.settle()
    }
}
