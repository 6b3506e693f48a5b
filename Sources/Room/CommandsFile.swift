import MediaTypes
import Packager
import RoomOutputs

/// The file of a room's commanded state, `commands.json`: what a worker reads before and after it has claimed the
/// room, and the store that it writes from then on.
struct CommandsFile {
    /// The state that this worker continues with, and its file; `nil`: the state is not saved.
    struct Claimed {
        var resumption: Resumption
        fileprivate let file: ClaimedFile?

        /// Opens the store for new commands. First saves that this worker restores the state, so that its death counts
        /// as an attempt.
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
                // If this fails, then the next write reports it.
                try? file.write(state.bytes)
            }
            self.resumption.state.fileMembers = [:]
            return CommandStore(
                self.resumption.state, file: self.resumption.file, place: file,
                clock: self.resumption.settings.clocks.machine, superseded: superseded)
        }
    }

    /// The settings from the command line and the pipeline file.
    let settings: RoomSettings

    /// `nil`: the state is not saved.
    private var place: (directory: String, name: String)? {
        let pipeline = self.settings.pipeline
        guard pipeline.clock == .live, let hls = pipeline.hls else { return nil }
        guard let directory = pipeline.control.stateDirectory else { return (hls.path, CommandedState.name) }
        // Several rooms may share the directory.
        return (directory, "\(pipeline.room.roomID).\(CommandedState.name)")
    }

    private var startsAnew: Bool {
        self.settings.forgets || self.settings.newSession && EndedRoom.exists(self.settings.pipeline)
    }

    /// Reads the state to continue with, before the room is claimed: the previous worker may still run and write.
    func read() -> Resumption {
        guard let place = self.place, !self.startsAnew else { return Resumption(self.settings, nil) }
        let resumption = Resumption(self.settings, DirectoryStore(directory: place.directory).read(place.name))
        let last = self.settings.pipeline.hls.flatMap { EndedOutput.lastIncarnation(inDirectory: $0.path) } ?? 0
        return resumption.state.incarnation <= last ? resumption : Resumption(self.settings, nil)
    }

    /// Reads the state again, once this worker has claimed the room and no earlier worker writes it any more.
    ///
    /// - Returns: `nil` if the document differs from the one that was found before the claim.
    /// - Throws: ``MediaError/Code/notCreatable``.
    func claim(after found: Resumption, _ packager: HLSPackager?) throws(MediaError) -> Claimed? {
        guard let packager, let place = self.place else { return Claimed(resumption: found, file: nil) }
        try DirectoryStore(directory: place.directory).prepare()
        let file = ClaimedFile(
            place.name, in: place.directory, claim: packager.claim, reached: self.settings.commandsReached)
        file.removeLeftovers()
        var resumption = found
        if found.bytes != nil || !self.startsAnew {
            let bytes = file.read()
            if bytes != found.bytes { resumption = Resumption(self.settings, bytes) }
        }
        // The room in the directory was started anew: the file belongs to the previous one.
        if resumption.state.incarnation >= packager.incarnation {
            try? file.remove()
            resumption = Resumption(self.settings, nil)
        }
        let isSame = resumption.settings.document?.effective == found.settings.document?.effective
        return isSame ? Claimed(resumption: resumption, file: file) : nil
    }
}
