import MediaTypes
import Packager
import RoomOutputs

/// Access to `commands.json`, the file of a room's commanded state: reads it before and after this worker claims the
/// room, and opens the store that writes it from then on.
struct CommandsFile {
    /// The state that a worker continues with once it has claimed the room, and the file it is saved in; the file is
    /// nil if the state is not saved.
    struct ClaimedState {
        var resumption: Resumption
        fileprivate let file: ClaimedFile?

        /// Opens the store for new commands. Before that, counts this worker's attempt to restore the state in the
        /// file, so that a crash of the worker is noticed by the next one.
        mutating func openStore(superseded: @escaping @Sendable () -> Void) -> CommandStore? {
            guard let file = self.file else { return nil }
            if self.resumption.keepsAside, let bytes = self.resumption.bytes {
                try? file.beside(Resumption.asideSuffix).write(bytes)
            }
            self.resumption.state.incarnation = file.incarnation
            if self.resumption.state.isPlain {
                try? file.remove()
            } else {
                self.resumption.state.attempts += 1
                var state = self.resumption.state
                state.fileMembers = self.resumption.file.map { state.hashes(of: $0) } ?? [:]
                // If this write fails, then the next one reports it.
                try? file.write(state.bytes)
            }
            self.resumption.state.fileMembers = [:]
            return CommandStore(
                self.resumption.state, file: self.resumption.file, place: file,
                clock: self.resumption.settings.clocks.machine, superseded: superseded)
        }
    }

    /// Settings from the command line and the pipeline file.
    let settings: RoomSettings

    /// Directory and name of the file; nil if the state is not saved.
    private var place: (directory: String, name: String)? {
        let pipeline = self.settings.pipeline
        guard pipeline.clock == .live, let hls = pipeline.hls else { return nil }
        guard let directory = pipeline.control.stateDirectory else { return (hls.path, CommandedState.name) }
        // Several rooms may share the state directory.
        return (directory, "\(pipeline.room.roomID).\(CommandedState.name)")
    }

    private var startsAnew: Bool {
        self.settings.forgets || self.settings.newSession && EndedRoom.exists(self.settings.pipeline)
    }

    /// Reads the state to continue with before the room is claimed. The previous worker may still be running and write
    /// it.
    func read() -> Resumption {
        guard let place = self.place, !self.startsAnew else { return Resumption(self.settings, nil) }
        let resumption = Resumption(self.settings, DirectoryStore(directory: place.directory).read(place.name))
        let last = self.settings.pipeline.hls.flatMap { EndedOutput.lastIncarnation(inDirectory: $0.path) } ?? 0
        return resumption.state.incarnation <= last ? resumption : Resumption(self.settings, nil)
    }

    /// Reads the state again after this worker has claimed the room, when no earlier worker writes the file any more.
    ///
    /// - Returns: nil if the document differs from the one that was read before the claim, so the room must be opened
    ///   again.
    /// - Throws: ``MediaError/Code/notCreatable`` if the state directory cannot be created.
    func claim(after found: Resumption, _ packager: HLSPackager?) throws(MediaError) -> ClaimedState? {
        guard let packager, let place = self.place else { return ClaimedState(resumption: found, file: nil) }
        try DirectoryStore(directory: place.directory).prepare()
        let file = ClaimedFile(
            place.name, in: place.directory, claim: packager.claim, reached: self.settings.commandsReached)
        file.removeLeftovers()
        var resumption = found
        if found.bytes != nil || !self.startsAnew {
            let bytes = file.read()
            if bytes != found.bytes { resumption = Resumption(self.settings, bytes) }
        }
        // The room in the directory was started anew. The file belongs to the previous room.
        if resumption.state.incarnation >= packager.incarnation {
            try? file.remove()
            resumption = Resumption(self.settings, nil)
        }
        let isSame = resumption.settings.document?.effective == found.settings.document?.effective
        return isSame ? ClaimedState(resumption: resumption, file: file) : nil
    }
}
