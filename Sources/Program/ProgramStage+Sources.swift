package import MediaTypes
import Synchronization

/// Sources that come and go. Whoever adds or removes one waits for nobody: everything is made ready there, and the program
/// thread takes it between two ticks.
extension ProgramStage {
    /// Who is there, as commands have said, and what of it the program thread has not taken yet.
    struct Roster {
        var sources: [SourceID: Source]
        /// The program thread has taken it, and asks for changes from tick to tick.
        var isRunning = false
        var joining: [MixerChannel] = []
        /// Told when the program has let go of them.
        var leaving: [SourceID: @Sendable () -> Void] = [:]

        init(sources: [SourceID: Source]) { self.sources = sources }
    }

    /// A source is there from the next tick on, in no scene until one names it. An id that is there already, or that is about
    /// to leave, stays as it is.
    ///
    /// - Returns: Whether it joins.
    @discardableResult
    package func add(_ id: SourceID, _ source: Source) -> Bool {
        let channel = MixerChannel(id)
        let joins = self.shared.withLock { shared -> Bool in
            guard shared.roster.sources[id] == nil else { return false }
            shared.roster.sources[id] = source
            shared.volumes[id] = source.volume
            // A command may have come for one of its name that was just gone.
            shared.muted.remove(id)
            shared.hidden.remove(id)
            if shared.roster.isRunning { shared.roster.joining.append(channel) }
            return true
        }
        guard joins else { return false }
        self.director.join(id, source.face)
        self.watchFormats(of: id, source)
        return true
    }

    /// Lets a source go as soon as no scene on air or on its way names it and nothing of it is heard: it fades as any other
    /// that a scene leaves out.
    ///
    /// - Parameter done: Called once, by the program thread or by this call, when the program has let go of it. Must not block.
    package func remove(_ id: SourceID, done: @escaping @Sendable () -> Void) {
        let isGone = self.shared.withLock { shared -> Bool in
            guard shared.roster.sources[id] != nil else { return true }
            guard shared.roster.isRunning else {
                shared.drop(id)
                return true
            }
            let before = shared.roster.leaving[id]
            shared.roster.leaving[id] = {
                before?()
                done()
            }
            return false
        }
        if isGone { done() }
    }

    /// Nothing is kept for a source that is gone. After ``remove(_:done:)`` is done, and not on the program's thread.
    package func forget(_ id: SourceID) { self.director.forget(id) }

    /// From any thread.
    func buffer(of id: SourceID) -> SourceBuffer? { self.shared.withLock { $0.roster.sources[id]?.buffer } }

    func watchFormats(of id: SourceID, _ source: Source) {
        source.buffer.watchFormats { [director = self.director] in director.foresee(id, $0) }
    }

    // MARK: The program thread

    /// Everybody who is there when the program begins.
    func beginSources() -> [SourceID: Source] {
        self.shared.withLock { shared in
            shared.roster.isRunning = true
            return shared.roster.sources
        }
    }

    /// Takes in who has come, and lets go of those who leave and are neither seen nor heard any more. Without a change this
    /// takes nothing from the heap.
    func changeSources(_ worker: inout ProgramWorker) {
        let news = self.shared.withLock { shared -> ([SourceID: Source], [MixerChannel], [SourceID])? in
            guard !shared.roster.joining.isEmpty || !shared.roster.leaving.isEmpty else { return nil }
            defer { shared.roster.joining = [] }
            // A scene that names who comes may be on air already.
            if !shared.roster.joining.isEmpty { shared.soundDirty = true }
            return (shared.roster.sources, shared.roster.joining, Array(shared.roster.leaving.keys))
        }
        guard let (sources, joining, leaving) = news else { return }
        worker.sources = sources
        for channel in joining { worker.mixer.add(channel) }
        for id in leaving where !self.director.isNamed(id) && worker.mixer.remove(id) {
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

    /// The program is over: whoever leaves has left.
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
    /// What commands and counters say of a source that is gone.
    mutating func drop(_ id: SourceID) {
        self.roster.sources[id] = nil
        self.roster.joining.removeAll { $0.source == id }
        self.volumes[id] = nil
        self.muted.remove(id)
        self.hidden.remove(id)
        self.stats.shown[id] = nil
        self.stats.repeated[id] = nil
    }
}

extension ProgramStage.Source {
    var face: SceneFactory.Face { SceneFactory.Face(name: self.name, placeholder: self.placeholder) }

    /// Whether what it has is the last picture of a publisher who is gone or silent, and has been held for long enough. One who
    /// is back and has sent no picture yet changes nothing.
    package func isStale(_ selection: SourceBuffer.Selection, at due: Int64) -> Bool {
        guard !selection.isFresh else { return false }
        if let silentSince = selection.silentSince, let hold = self.stalledHold {
            return due &- max(selection.time, silentSince) > hold
        }
        guard let lostAt = selection.lostAt else { return false }
        return due &- max(selection.time, lostAt) > self.hold
    }
}
