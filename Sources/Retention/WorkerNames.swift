import MediaTypes
import Packager
import Recording
import Upload

/// Decides by a file's name whether a worker wrote the file for a room, and which kind of file it is.
///
/// These names are a worker's: those that follow from the names of the room's tracks, those that the manifest of its
/// recording lists, the sheets of a thumbnail index, and fixed names. In a directory of clips, every MP4 file is a
/// worker's. Other files belong to other programs.
package struct WorkerNames: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        case playlist
        /// A segment or another file whose name no later session of the room uses again.
        case media
        /// Any other file of a worker, such as the state file or an index of thumbnail sheets.
        case note
    }

    /// Names of files that workers write beside their live output: commands, events, deliveries of webhooks, crashes and
    /// the overload record.
    /// The modules that define these names cannot be imported here.
    package static let notes: Set<String> = [
        "commands.json", "commands.json.aside", "crashes.jsonl", "events.delivered", "events.delivered.new",
        "events.jsonl", "events.1.jsonl", "overload.json",
    ]

    private var tracks: TrackFiles?
    private var fixed: Set<String> = []
    /// Names that a recording's manifest lists.
    private var listed: Set<String> = []
    /// Names of image outputs with thumbnail sheets, without extension.
    private var sheets: Set<String> = []
    private var hasUploads = false
    private var isClips = false

    /// Names of files in the directory of an HLS output.
    ///
    /// - Parameters:
    ///   - tracks: Names of all tracks.
    ///   - sheets: Names of the indexes of thumbnail sheets, without extension.
    ///   - others: Names of further files that workers write here, such as the state file.
    static func output(tracks: Set<String>, sheets: Set<String>, others: [String]) -> WorkerNames {
        var names = WorkerNames()
        names.tracks = TrackFiles(tracks: tracks, container: .fragmentedMP4)
        names.fixed = Self.notes.union(TrackFiles.notes).union(others)
        names.sheets = sheets
        names.hasUploads = true
        return names
    }

    /// Names of files in the directory of an MPEG-TS output.
    static func transport(tracks: Set<String>, others: [String]) -> WorkerNames {
        var names = WorkerNames()
        names.tracks = TrackFiles(tracks: tracks, container: .mpegTS)
        names.fixed = Set(others + [TrackFiles.originNote])
        return names
    }

    /// Names of files in the directory of a recording session. Without a manifest, no media file counts as a worker's.
    static func recording(_ manifest: RecordingManifest?) -> WorkerNames {
        var names = WorkerNames()
        names.fixed = [RecordedNames.manifest, RecordingSessionFile.name]
        names.listed = manifest?.fileNames ?? []
        return names
    }

    /// Names of files in a directory of clips. Callers choose the names of clips, so every MP4 file counts as a clip.
    static var clips: WorkerNames {
        var names = WorkerNames()
        names.isClips = true
        return names
    }

    /// Names of a room's objects in a bucket.
    static func bucket(
        tracks: Set<String>, sheets: Set<String>, manifest: RecordingManifest?, others: [String]
    ) -> WorkerNames {
        var names = WorkerNames()
        names.tracks = TrackFiles(tracks: tracks, container: .fragmentedMP4)
        names.fixed = Set(others)
        names.listed = manifest?.fileNames ?? []
        names.sheets = sheets
        return names
    }

    /// Whether a worker wrote an index of thumbnail sheets: a WebVTT file whose images all have a worker's names.
    ///
    /// - Parameters:
    ///   - stem: The index's file name without extension.
    ///   - bytes: Content of the index.
    static func isIndex(of stem: String, _ bytes: [UInt8]) -> Bool {
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.hasPrefix("WEBVTT\n") else { return false }
        let index = ThumbnailIndex(
            name: stem, columns: 1, rows: 1, width: 0, height: 0, interval: 1, incarnation: 1, kept: text)
        return !index.sheets.isEmpty && index.sheets.allSatisfy { self.isSheet($0, of: stem) }
    }

    /// Whether a name is that of a thumbnail sheet: `STEM-INCARNATION-NUMBER.jpg`.
    private static func isSheet(_ name: String, of stem: String) -> Bool {
        guard name.hasPrefix("\(stem)-"), name.hasSuffix(self.still) else { return false }
        let numbers = name.dropFirst(stem.count + 1).dropLast(self.still.count)
            .split(separator: "-", omittingEmptySubsequences: false)
        return numbers.count == 2 && numbers.allSatisfy(\.isDigits)
    }

    static let index = ".vtt"
    private static let still = ".jpg"
    private static let temporary = ".tmp"
    private static let movie = ".mp4"

    /// The kind of the file of this name; `nil` if the file is not a worker's.
    func kind(of name: String) -> Kind? {
        if let kind = self.kind(ofWhole: name) { return kind }
        // A worker that is killed while it writes a file leaves a temporary file.
        guard name.hasPrefix(".") else { return nil }
        for end in [Self.temporary, RecordedNames.partialMark] where name.hasSuffix(end) {
            let whole = String(name.dropFirst().dropLast(end.count))
            if self.kind(ofWhole: whole) != nil { return .note }
            // If a worker writes a file under its claim, the temporary name also contains the worker's incarnation.
            if let dot = whole.lastIndex(of: "."), whole[whole.index(after: dot)...].isDigits,
                self.fixed.contains(String(whole[..<dot]))
            {
                return .note
            }
            if self.hasUploads, end == Self.temporary, whole.hasPrefix(UploadRecord.notePrefix) { return .note }
            if self.isClips, end == RecordedNames.partialMark, whole.contains("\(Self.movie).") { return .note }
        }
        return nil
    }

    private func kind(ofWhole name: String) -> Kind? {
        if self.fixed.contains(name) { return .note }
        // Journals are in the directory of an HLS output, like the uploads' notes.
        if self.hasUploads, TrackFiles.isJournal(name) { return .note }
        switch self.tracks?.kind(of: name) {
        case .playlist?: return .playlist
        case .media?: return .media
        case nil: break
        }
        if self.listed.contains(name) {
            return name.hasSuffix(".m3u8") ? .playlist : .media
        }
        if self.isClips, name.hasSuffix(Self.movie), !name.hasPrefix(".") { return .media }
        guard !self.sheets.isEmpty else { return nil }
        for stem in self.sheets {
            // The next session writes its still image and its index under the same names.
            if name == stem + Self.still || name == stem + Self.index { return .note }
            if Self.isSheet(name, of: stem) { return .media }
        }
        return nil
    }
}
