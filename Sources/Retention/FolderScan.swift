import HLS
import MediaTypes
import Packager
import Recording
import Upload

/// The kind of a room's directory and the files in it, as read at one time. Reading changes nothing on the disk.
struct FolderScan: Sendable {
    enum Kind: Sendable, Hashable {
        /// An HLS output.
        ///
        /// - Parameter hasEnded: Whether the room has ended; `nil` if the state file is damaged.
        case output(hasEnded: Bool?)
        /// An MPEG-TS output.
        ///
        /// - Parameter hasEnded: Whether every media playlist has `EXT-X-ENDLIST`, and there is one multivariant
        ///   playlist or no media.
        case transport(hasEnded: Bool)
        /// A recording.
        ///
        /// - Parameter isUnfinished: Whether the room still runs, files are missing that a worker can still make, or a
        ///   subdirectory could not be read.
        case recording(isUnfinished: Bool)
    }

    /// A file by which the directory is recognized, and its version when the directory was read.
    struct Mark: Sendable, Hashable {
        let name: String
        /// `nil` if the file did not exist.
        var version: Folder.Version?
    }

    var kind: Kind
    /// The room's id, from the playlists or the recording's files.
    var room: String?
    var files: FolderFiles
    /// Ids of the stores whose uploads are not complete.
    var unfinishedStores: [String] = []
    /// Subdirectories with further sessions of a recording or with clips, and their files.
    var inner: [(name: String, files: FolderFiles)] = []
    /// Why a part of the directory could not be read; `nil` if all of it was read.
    var problem: String?
    /// The files by which the directory is recognized. Their versions were read before all other files.
    let marks: [Mark]

    private static let sessions = RecordingSessionFile.name
    private static let journal = RecordingJournal.name
    private static let manifest = RecordedNames.manifest
    private static let origin = TrackFiles.originNote
    private static let state = OutputSummary.stateFile
    /// Highest number of bytes that are read from a playlist: enough for a day of an `EVENT` playlist.
    private static let longestPlaylist = 16 << 20
    /// Highest number of bytes that are read from an index of thumbnail sheets.
    private static let longestIndex = 4 << 20
    /// Highest number of bytes that are read from a small file, or from the beginning of a journal.
    private static let shortFile = 512

    /// Whether a subdirectory of this name belongs to the output in its parent directory, and is not a room of its own.
    ///
    /// - Parameter scan: The parent directory; `nil` if it is not the output of a room.
    static func isInner(_ name: String, of scan: FolderScan?) -> Bool {
        switch scan?.kind {
        case .output?: name == RecordedNames.clips
        case .recording?: RecordedNames.isSession(name) || name == RecordedNames.clips
        case .transport?, nil: false
        }
    }

    /// Reads a directory; `nil` if it is not the output or a recording of a room.
    static func read(_ folder: borrowing Folder) throws(SystemError) -> FolderScan? {
        var marks: [Mark] = []
        for name in [self.state, self.sessions, self.journal, self.manifest, self.origin] {
            marks.append(Mark(name: name, version: folder.version(name)))
        }
        let entries = try folder.entries()
        let names = Set(entries.lazy.filter { $0.kind == .file }.map(\.name))
        if names.contains(self.state) { return self.output(folder, entries, marks) }
        if names.contains(self.journal) || names.contains(self.sessions) || names.contains(self.manifest) {
            return self.recording(folder, entries, marks)
        }
        return names.contains(self.origin) ? self.transport(folder, entries, marks) : nil
    }

    // MARK: HLS

    private static func output(
        _ folder: borrowing Folder, _ entries: [Folder.Entry], _ marks: [Mark]
    ) -> FolderScan {
        let bytes = folder.read(self.state, limit: OutputSummary.mostBytes)
        let summary = bytes.flatMap { OutputSummary(json: $0) }
        var tracks = Set(summary?.trackNames ?? [])
        var room: String?
        if let name = summary?.multivariantName, let bytes = folder.read(name, limit: self.longestPlaylist),
            case .multivariant(let id, let listed)? = RoomPlaylist(bytes)
        {
            room = id
            tracks.formUnion(listed)
        }
        let last = [summary?.multivariantName, self.state].compactMap { $0 }
        let whole = summary.map { [TrackFiles.wholeWindowPlaylist(nextTo: $0.multivariantName)] } ?? []
        let segments = TrackFiles(tracks: tracks, container: .fragmentedMP4)
        var scan = FolderScan(
            kind: .output(hasEnded: summary?.hasEnded), room: room,
            files: FolderFiles(
                entries,
                .output(
                    tracks: tracks, sheets: self.sheets(folder, entries, besides: segments), others: last + whole),
                last: last,
                folders: { $0 == RecordedNames.clips }),
            unfinishedStores: entries.lazy.map(\.name).filter { $0.hasPrefix(UploadRecord.notePrefix) }.map {
                String($0.dropFirst(UploadRecord.notePrefix.count))
            }, marks: marks)
        if bytes == nil { scan.problem = "\(self.state) cannot be read" }
        scan.addInner(folder, entries) { $0 == RecordedNames.clips }
        return scan
    }

    /// Names of the indexes of thumbnail sheets, without extension.
    ///
    /// - Parameter segments: Files of tracks and subtitle renditions, whose segments are WebVTT files, too.
    private static func sheets(
        _ folder: borrowing Folder, _ entries: [Folder.Entry], besides segments: TrackFiles
    ) -> Set<String> {
        var sheets: Set<String> = []
        for entry in entries where entry.kind == .file && entry.name.hasSuffix(WorkerNames.index) {
            if segments.kind(of: entry.name) != nil { continue }
            let stem = String(entry.name.dropLast(WorkerNames.index.count))
            guard let bytes = folder.read(entry.name, limit: self.longestIndex),
                WorkerNames.isIndex(of: stem, bytes)
            else { continue }
            sheets.insert(stem)
        }
        return sheets
    }

    // MARK: MPEG-TS

    private static func transport(
        _ folder: borrowing Folder, _ entries: [Folder.Entry], _ marks: [Mark]
    ) -> FolderScan? {
        // If the first line is not a number, the time origin of a room, another program wrote the file.
        guard let note = folder.read(self.origin, limit: self.shortFile),
            let line = String(decoding: note, as: UTF8.self).split(separator: "\n").first, Int64(line) != nil
        else { return nil }
        var rooms: [(room: String, name: String, tracks: Set<String>)] = []
        var (hasEnded, isRecording) = (true, false)
        var problem: String?
        for entry in entries where entry.kind == .file && entry.name.hasSuffix(".m3u8") {
            guard let bytes = folder.read(entry.name, limit: self.longestPlaylist) else {
                problem = "\(entry.name) cannot be read"
                continue
            }
            switch RoomPlaylist(bytes) {
            case .multivariant(let id, let tracks)?: rooms.append((id, entry.name, tracks))
            case .media(let isOver, let type)?:
                hasEnded = hasEnded && isOver
                isRecording = isRecording || type == "VOD"
            case nil: hasEnded = false
            }
        }
        // If there is no multivariant playlist, an interrupted run has left only the note, or a worker is just starting.
        let hasMedia = entries.contains { [".ts", ".m3u8"].contains(where: $0.name.hasSuffix) }
        if rooms.count > 1 || rooms.isEmpty && hasMedia { hasEnded = false }
        let last = rooms.prefix(1).map(\.name) + [self.origin]
        return FolderScan(
            kind: isRecording ? .recording(isUnfinished: !hasEnded) : .transport(hasEnded: hasEnded),
            room: rooms.first?.room,
            files: FolderFiles(entries, .transport(tracks: rooms.first?.tracks ?? [], others: last), last: last),
            problem: problem, marks: marks)
    }

    // MARK: Recordings

    private static func recording(
        _ folder: borrowing Folder, _ entries: [Folder.Entry], _ marks: [Mark]
    ) -> FolderScan {
        let isInner: (String) -> Bool = { RecordedNames.isSession($0) || $0 == RecordedNames.clips }
        let hasSessionFile = entries.contains { $0.name == self.sessions }
        let sessionFile = folder.read(self.sessions, limit: self.shortFile).flatMap {
            RecordingSessionFile(text: String(decoding: $0, as: UTF8.self))
        }
        let manifest = self.readManifest(folder)
        let isUnfinished =
            entries.contains { $0.name == self.journal } || (hasSessionFile && sessionFile?.state != .over)
        var scan = FolderScan(
            kind: .recording(isUnfinished: isUnfinished),
            room: sessionFile?.roomID ?? self.roomOfJournal(folder) ?? manifest?.roomID,
            // As long as one of these two files exists, the next run recognizes a finished recording.
            files: FolderFiles(
                entries, .recording(manifest), last: [self.manifest, self.sessions], folders: isInner), marks: marks)
        if manifest == nil, entries.contains(where: { $0.name == self.manifest }) {
            scan.problem = "\(self.manifest) is damaged, too large or cannot be read"
        }
        scan.addInner(folder, entries, isInner)
        return scan
    }

    private static func readManifest(_ folder: borrowing Folder) -> RecordingManifest? {
        folder.read(self.manifest, limit: RecordingManifest.mostBytes).flatMap { RecordingManifest(json: $0) }
    }

    private static func roomOfJournal(_ folder: borrowing Folder) -> String? {
        guard let head = folder.read(self.journal, limit: self.shortFile) else { return nil }
        return RecordingJournal.roomID(atHeadOf: head)
    }

    // MARK: Subdirectories

    private mutating func addInner(
        _ folder: borrowing Folder, _ entries: [Folder.Entry], _ isInner: (String) -> Bool
    ) {
        for entry in entries where entry.kind == .directory && isInner(entry.name) {
            do throws(SystemError) {
                let inside = try folder.folder(entry.name)
                guard inside.identity.device == folder.identity.device else {
                    self.leave(entry.name, "is on another file system")
                    continue
                }
                let names = try inside.entries()
                if entry.name == RecordedNames.clips {
                    self.inner.append((entry.name, FolderFiles(names, .clips, last: [])))
                    continue
                }
                if names.contains(where: { $0.name == Self.journal }) { self.kind = .recording(isUnfinished: true) }
                let manifest = Self.readManifest(inside)
                if manifest == nil, names.contains(where: { $0.name == Self.manifest }) {
                    self.leave(entry.name, "has a \(Self.manifest) that is damaged, too large or cannot be read")
                }
                self.room = self.room ?? Self.roomOfJournal(inside) ?? manifest?.roomID
                self.inner.append((entry.name, FolderFiles(names, .recording(manifest), last: [Self.manifest])))
            } catch {
                if !error.isAbsence { self.leave(entry.name, "cannot be read: \(error.text)") }
            }
        }
    }

    /// Registers a subdirectory that could not be read. A recording then counts as unfinished, because the subdirectory
    /// may contain a journal.
    private mutating func leave(_ name: String, _ reason: String) {
        self.problem = "\(name) \(reason)"
        if case .recording = self.kind { self.kind = .recording(isUnfinished: true) }
    }
}
