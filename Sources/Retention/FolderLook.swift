import HLS
import Packager
import Recording

/// What a directory is, by its files. Reading changes nothing.
struct FolderLook: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        /// - Parameter summary: `nil` if the state file cannot be read.
        case output(OutputSummary?)
        /// - Parameter hasEnded: Whether every media playlist has `EXT-X-ENDLIST`.
        case transport(hasEnded: Bool)
        /// - Parameter isUnfinished: Files are missing that a worker can still make, or the room goes on.
        case recording(isUnfinished: Bool)
    }

    let kind: Kind
    /// The room's id, from the playlists or the recording's files.
    let room: String?
    let files: FolderFiles
    /// Ids of the stores that have not everything yet.
    let unfinishedStores: [String]
    /// Directories of further sessions of a recording, and of clips, with their files.
    let inner: [(name: String, files: FolderFiles)]

    /// Name of the directory of clips in an HLS output's directory.
    static let clips = "clips"
    private static let sessionPrefix = "take-"
    private static let journal = RecordingJournal.name
    private static let sessions = RecordingSessionFile.name
    private static let manifest = "recording.json"
    private static let uploadNote = ".upload-"
    /// Bytes of a playlist that are read: a day of an event playlist.
    private static let longestPlaylist = 16 << 20
    private static let longestState = 256 << 20
    /// Bytes of the first line of a journal, and of the file of sessions.
    private static let shortFile = 512

    static func == (left: FolderLook, right: FolderLook) -> Bool {
        left.kind == right.kind && left.files == right.files && left.room == right.room
    }

    func hash(into hasher: inout Hasher) { hasher.combine(self.files) }

    /// Whether a directory of this name belongs to the directory that it is in, so that it is no directory of a room itself.
    static func isInner(_ name: String, of look: FolderLook?) -> Bool {
        switch look?.kind {
        case .output?: name == self.clips
        case .recording?: name.hasPrefix(self.sessionPrefix) || name == self.clips
        case .transport?, nil: false
        }
    }

    /// - Returns: `nil` for a directory that is no output of a room, or that cannot be read.
    static func read(_ folder: borrowing Folder) -> FolderLook? {
        guard let entries = folder.entries() else { return nil }
        let names = Set(entries.lazy.filter { $0.kind == .file }.map(\.name))
        if names.contains(OutputSummary.stateFile) { return self.output(folder, entries) }
        if names.contains(self.journal) || names.contains(self.sessions) || names.contains(self.manifest) {
            return self.recording(folder, entries)
        }
        return self.transport(folder, entries)
    }

    // MARK: HLS

    private static func output(_ folder: borrowing Folder, _ entries: [Folder.Entry]) -> FolderLook {
        let summary = self.summary(folder)
        let multivariant = summary?.multivariantName
        let stores = entries.lazy.map(\.name).filter { $0.hasPrefix(self.uploadNote) && !$0.hasSuffix(".tmp") }
        return FolderLook(
            kind: .output(summary),
            room: multivariant.flatMap { folder.read($0, limit: self.longestPlaylist) }.flatMap(self.room),
            files: FolderFiles(
                entries, last: [multivariant, OutputSummary.stateFile].compactMap { $0 }, hasMovies: false,
                folders: { $0 == self.clips }),
            unfinishedStores: stores.map { String($0.dropFirst(self.uploadNote.count)) },
            inner: self.inner(folder, entries) { $0 == self.clips })
    }

    static func summary(_ folder: borrowing Folder) -> OutputSummary? {
        guard let head = folder.read(OutputSummary.stateFile, limit: OutputSummary.headSize) else { return nil }
        if let summary = OutputSummary(head: head) { return summary }
        return folder.read(OutputSummary.stateFile, limit: self.longestState).flatMap { OutputSummary(json: $0) }
    }

    private static func transport(_ folder: borrowing Folder, _ entries: [Folder.Entry]) -> FolderLook? {
        var room: String?
        var multivariant: String?
        var hasEnded = true
        for entry in entries where entry.kind == .file && entry.name.hasSuffix(".m3u8") {
            guard let bytes = folder.read(entry.name, limit: self.longestPlaylist) else { return nil }
            switch RoomPlaylist(bytes) {
            case .multivariant(let id)?: (room, multivariant) = (id, entry.name)
            case .media(let isOver)?: hasEnded = hasEnded && isOver
            case nil: break
            }
        }
        // Playlists of other programs do not say the room.
        guard let multivariant else { return nil }
        return FolderLook(
            kind: .transport(hasEnded: hasEnded), room: room, files: FolderFiles(entries, last: [multivariant]),
            unfinishedStores: [], inner: [])
    }

    private static func room(_ bytes: [UInt8]) -> String? {
        if case .multivariant(let room)? = RoomPlaylist(bytes) { room } else { nil }
    }

    // MARK: Recordings

    private static func recording(_ folder: borrowing Folder, _ entries: [Folder.Entry]) -> FolderLook {
        let isInner: (String) -> Bool = { $0.hasPrefix(self.sessionPrefix) || $0 == self.clips }
        let sessions = entries.contains { $0.name == self.sessions }
        let book = folder.read(self.sessions, limit: self.shortFile).flatMap {
            RecordingSessionFile(text: String(decoding: $0, as: UTF8.self))
        }
        var room = book?.roomID ?? self.roomOfJournal(folder)
        var isUnfinished = entries.contains { $0.name == self.journal } || (sessions && book?.state != .over)
        for entry in entries where entry.kind == .directory && entry.name.hasPrefix(self.sessionPrefix) {
            guard let session = folder.folder(entry.name), let names = session.entries() else {
                isUnfinished = true
                continue
            }
            if names.contains(where: { $0.name == self.journal }) { isUnfinished = true }
            room = room ?? self.roomOfJournal(session)
        }
        if room == nil { room = self.roomOfManifest(folder) }
        return FolderLook(
            kind: .recording(isUnfinished: isUnfinished), room: room,
            // As long as one of them is there, the directory is a finished recording.
            files: FolderFiles(entries, last: [self.manifest, self.sessions], folders: isInner), unfinishedStores: [],
            inner: self.inner(folder, entries, isInner))
    }

    private static func roomOfJournal(_ folder: borrowing Folder) -> String? {
        guard let head = folder.read(self.journal, limit: self.shortFile) else { return nil }
        let line = String(decoding: head, as: UTF8.self).prefix { $0 != "\n" }
        let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
        return fields.count == 3 && fields[0] == "recording" ? String(fields[2]) : nil
    }

    private static func roomOfManifest(_ folder: borrowing Folder) -> String? {
        guard let head = folder.read(self.manifest, limit: self.shortFile) else { return nil }
        let start = "{\"roomId\":\""
        let text = String(decoding: head, as: UTF8.self)
        return text.hasPrefix(start) ? String(text.dropFirst(start.count).prefix { $0 != "\"" }) : nil
    }

    private static func inner(
        _ folder: borrowing Folder, _ entries: [Folder.Entry], _ isInner: (String) -> Bool
    ) -> [(name: String, files: FolderFiles)] {
        var found: [(name: String, files: FolderFiles)] = []
        for entry in entries where entry.kind == .directory && isInner(entry.name) {
            guard let inside = folder.folder(entry.name), let names = inside.entries() else { continue }
            found.append((entry.name, FolderFiles(names, last: [self.manifest])))
        }
        return found
    }
}
