package import MediaTypes
import Synchronization

/// Adding and removing sources. The caller never blocks: it prepares everything, and the program thread applies the
/// change between two ticks.
extension ProgramStage {
    /// The sources as set by commands, and the changes that the program thread has not applied yet.
    struct Roster {
        var sources: [SourceID: Source]
        /// Whether the program thread has started: then it applies changes, on every tick.
        var isRunning = false
        var joining: [MixerChannel] = []
        /// Sources that are being removed, with the callbacks to run when the program has released them.
        var leaving: [SourceID: @Sendable () -> Void] = [:]
    }

    /// Adds a source from the next tick on. It is visible once a scene names it. Does nothing if a source with this id
    /// exists or is being removed.
    ///
    /// - Returns: Whether the source was added.
    @discardableResult
    package func add(_ id: SourceID, _ source: Source) -> Bool {
        let channel = MixerChannel(id)
        let joins = self.shared.withLock { shared -> Bool in
            guard shared.roster.sources[id] == nil else { return false }
            shared.roster.sources[id] = source
            shared.volumes[id] = source.volume
            // A command may have set these for an earlier source of the same id.
            shared.muted.remove(id)
            shared.hidden.remove(id)
            if shared.roster.isRunning { shared.roster.joining.append(channel) }
            return true
        }
        guard joins else { return false }
        self.setBackground(id, source.isBackground, fadeMs: source.fadeMs)
        self.scheduler.join(id, source.face)
        self.watchFormats(of: id, source)
        return true
    }

    /// Removes a source as soon as no scene that is on air or pending names it and its audio has faded out, as for any
    /// source that a new scene leaves out; immediately if the program does not run.
    ///
    /// - Parameter done: Called once, on the program thread or by this call, when the program has released the source.
    ///   Must not block.
    package func remove(_ id: SourceID, done: @escaping @Sendable () -> Void) {
        let isGone = self.shared.withLock { shared -> Bool in
            guard shared.roster.sources[id] != nil else { return true }
            guard shared.roster.isRunning else {
                shared.drop(id)
                return true
            }
            // A background source, which no scene needs to name, fades out now.
            shared.audioDirty = true
            let before = shared.roster.leaving[id]
            shared.roster.leaving[id] = {
                before?()
                done()
            }
            return false
        }
        if isGone { done() }
    }

    /// Frees what is cached for a removed source. Call it after ``remove(_:done:)`` has completed, and not on the
    /// program thread.
    package func forget(_ id: SourceID) { self.scheduler.forget(id) }

    /// Returns the buffer of a source; `nil` if there is no such source. May be called from any thread.
    func buffer(of id: SourceID) -> SourceBuffer? { self.shared.withLock { $0.roster.sources[id]?.buffer } }

    func watchFormats(of id: SourceID, _ source: Source) {
        source.buffer.watchFormats { [scheduler = self.scheduler] in scheduler.foresee(id, $0) }
    }

    // MARK: The program thread

    /// Returns the sources that exist when the program begins, and makes later changes wait for the program thread.
    func beginSources() -> [SourceID: Source] {
        self.shared.withLock { shared in
            shared.roster.isRunning = true
            return shared.roster.sources
        }
    }

    /// Applies added sources and releases removed ones that are neither visible nor audible any more. Does not allocate
    /// if nothing changed.
    func changeSources(_ worker: inout ProgramWorker) {
        let news = self.shared.withLock { shared -> ([SourceID: Source], [MixerChannel], [SourceID])? in
            guard !shared.roster.joining.isEmpty || !shared.roster.leaving.isEmpty else { return nil }
            defer { shared.roster.joining = [] }
            // A scene that names a new source may be on air already.
            if !shared.roster.joining.isEmpty { shared.audioDirty = true }
            return (shared.roster.sources, shared.roster.joining, Array(shared.roster.leaving.keys))
        }
        guard let (sources, joining, leaving) = news else { return }
        worker.sources = sources
        for channel in joining { worker.mixer.add(channel) }
        for id in leaving where !self.scheduler.isNamed(id) && worker.mixer.remove(id) {
            worker.player.forget(id)
            worker.covered.remove(id)
            let (left, done) = self.shared.withLock { shared in
                let done = shared.roster.leaving.removeValue(forKey: id)
                shared.drop(id)
                return (shared.roster.sources, done)
            }
            worker.sources = left
            done?()
        }
    }

    /// The program has ended: completes all pending removals.
    func endSources() {
        let leaving = self.shared.withLock { shared in
            defer { shared.roster.leaving = [:] }
            shared.roster.isRunning = false
            for id in shared.roster.leaving.keys { shared.drop(id) }
            return shared.roster.leaving
        }
        for done in leaving.values { done() }
    }
}

extension ProgramStage.Shared {
    /// Deletes settings and counters of a removed source.
    mutating func drop(_ id: SourceID) {
        self.roster.sources[id] = nil
        self.roster.joining.removeAll { $0.source == id }
        self.volumes[id] = nil
        self.muted.remove(id)
        self.hidden.remove(id)
        self.background.remove(id)
        self.fades[id] = nil
        self.stats.shown[id] = nil
        self.stats.repeated[id] = nil
    }
}

extension ProgramStage.Source {
    var face: SceneBuilder.Face { SceneBuilder.Face(name: self.name, placeholder: self.placeholder) }

    /// Whether the selected frame must be replaced by the card: it is the last frame of a disconnected or silent
    /// publisher, and has been shown for the hold time since the publisher was lost or fell silent. A reconnected
    /// publisher does not change this before its first frame.
    package func isStale(_ selection: SourceBuffer.Selection, at due: Int64) -> Bool {
        guard !selection.isFresh else { return false }
        if let silentSince = selection.silentSince, let hold = self.stalledHold {
            return due &- max(selection.time, silentSince) > hold
        }
        guard let lostAt = selection.lostAt else { return false }
        return due &- max(selection.time, lostAt) > self.hold
    }
}
