package import MediaTypes

/// The state of an operator-controlled recording on disk, for the next worker: a one-line file in the first session's
/// directory, rewritten with every command that has an effect and at the end of the room. A recording that was never
/// started or stopped by an operator has no such file.
package struct RecordingSessionFile: Sendable, Hashable {
    package enum State: String, Sendable, Hashable {
        /// The newest session is recording; the next worker continues it.
        case recording
        case stopped
        /// The room has ended.
        case over
    }

    package static let name = "recording.takes"
    private static let version = "1"
    /// Maximum number of recording sessions of a room.
    static let most = 10_000

    package let roomID: String
    /// Number of the newest session, counted from 1; 0 if none has begun.
    package var last: Int
    package var state: State

    package var text: String { "takes\t\(Self.version)\t\(self.roomID)\t\(self.last)\t\(self.state.rawValue)\n" }

    package init(roomID: String, last: Int, state: State) {
        self.roomID = roomID
        self.last = last
        self.state = state
    }

    /// Parses the content of the file.
    ///
    /// - Returns: `nil` for an invalid text.
    package init?(text: String) {
        guard text.hasSuffix("\n") else { return nil }
        let fields = text.dropLast().split(separator: "\t", omittingEmptySubsequences: false)
        guard fields.count == 5, fields[0] == "takes", fields[1] == Self.version, let last = Int(fields[3]),
            (0...Self.most).contains(last), let state = State(rawValue: String(fields[4]))
        else { return nil }
        self.init(roomID: String(fields[2]), last: last, state: state)
    }

    /// Reads the session file in a directory; `nil` if it does not exist.
    ///
    /// - Throws: ``MediaError/Code/rejected`` for another room's file, ``MediaError/Code/invalidData`` for a damaged
    ///   one.
    static func read(in folder: RecordingFolder, roomID: String) throws(MediaError) -> RecordingSessionFile? {
        guard folder.contains(Self.name) else { return nil }
        guard let bytes = folder.read(Self.name),
            let sessionFile = RecordingSessionFile(text: String(decoding: bytes, as: UTF8.self))
        else {
            throw MediaError(
                .invalidData, "\(folder.full(Self.name)) is damaged", at: "recording",
                fix: "restore it, or choose another directory for the recording")
        }
        guard sessionFile.roomID == roomID else {
            throw MediaError(
                .rejected, "\(folder.path) contains the recording of room \(sessionFile.roomID)", at: "recording",
                fix: "choose another directory")
        }
        return sessionFile
    }

    /// Writes the session file and flushes it to disk.
    ///
    /// - Throws: ``MediaError/Code/outputLost``, ``MediaError/Code/diskFull``; then the old file stays.
    package func write(in folder: RecordingFolder) throws(MediaError) {
        // The file is flushed to disk, because no worker starts if it is damaged.
        try folder.put(Self.name, Array(self.text.utf8), durable: true)
    }
}

extension RecordingSettings {
    /// Returns the settings of a recording session. The first session is in the recording's directory, later ones are
    /// in subdirectories.
    ///
    /// - Parameter number: Number of the session, starting at 1.
    package func take(_ number: Int) -> RecordingSettings {
        guard number > 1 else { return self }
        var settings = self
        settings.directory = "\(self.directory)/\(RecordedNames.take(number))"
        return settings
    }

    /// Removes the sources of finished sessions, if a worker was killed before it removed them; see
    /// ``RecordingFinisher/removeLeftovers()``.
    package func removeLeftovers() {
        let sessionFile = try? RecordingSessionFile.read(in: RecordingFolder(path: self.directory), roomID: self.roomID)
        for number in 1...max(1, sessionFile?.last ?? 1) { RecordingFinisher(self.take(number)).removeLeftovers() }
    }

    /// Returns the sessions of an ended room from which previous workers have not made files, oldest first.
    ///
    /// - Parameter roomHasEnded: See ``RecordingFinisher/isDue(roomHasEnded:)``. A room on air has no such sessions,
    ///   even if an operator has stopped one: the room's next worker makes those files while the room runs.
    package func dueSessions(roomHasEnded: Bool) -> [RecordingSettings] {
        let folder = RecordingFolder(path: self.directory)
        guard folder.contains(RecordingSessionFile.name) else {
            return RecordingFinisher(self).isDue(roomHasEnded: roomHasEnded) ? [self] : []
        }
        guard let sessionFile = try? RecordingSessionFile.read(in: folder, roomID: self.roomID) else { return [] }
        // A worker may have been killed between the end of the running session and the update of this file.
        let isEnded = sessionFile.state == .recording && RecordingFinisher(self.take(sessionFile.last)).isDue
        guard roomHasEnded || sessionFile.state == .over || isEnded else { return [] }
        return stride(from: 1, through: sessionFile.last, by: 1).map { self.take($0) }.filter {
            RecordingFinisher($0).isDue(roomHasEnded: true)
        }
    }
}
