import MediaTypes
import Packager
import Recording
import Upload

/// Decides by its name whether a worker made a file for a room, and what it is.
///
/// Only names that follow from the room's tracks, from the manifest of its recording, or that are fixed, are a worker's.
/// Everything else in the directory belongs to somebody else, whatever its extension is.
package struct WorkerNames: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        case playlist
        /// Its name is never used again by a later session of the room.
        case media
        /// Everything else.
        case note
    }

    /// Names of files that workers write beside their live output and that modules above this one define: commands,
    /// events, and what a successor must know.
    package static let notes: Set<String> = [
        "commands.json", "commands.json.aside", "crashes.jsonl", "events.jsonl", "events.1.jsonl", "overload.json",
    ]

    private var tracks: TrackFiles?
    private var fixed: Set<String> = []
    /// Names that a recording's manifest lists.
    private var listed: Set<String> = []
    /// Names of image outputs with thumbnail sheets, without extension.
    private var sheets: Set<String> = []
    private var hasUploads = false
    private var isClips = false

    /// The directory of an HLS output.
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

    /// The directory of an MPEG-TS output.
    static func transport(tracks: Set<String>, others: [String]) -> WorkerNames {
        var names = WorkerNames()
        names.tracks = TrackFiles(tracks: tracks, container: .mpegTS)
        names.fixed = Set(others + [TrackFiles.originNote])
        return names
    }

    /// The directory of a recording session; without a manifest no media of it is known.
    static func recording(_ manifest: RecordingManifest?) -> WorkerNames {
        var names = WorkerNames()
        names.fixed = [RecordedNames.manifest, RecordingSessionFile.name]
        names.listed = manifest?.fileNames ?? []
        return names
    }

    /// A directory of clips. Their names are free, so every MP4 file in it is a clip.
    static var clips: WorkerNames {
        var names = WorkerNames()
        names.isClips = true
        return names
    }

    /// The objects of a room in a bucket.
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

    /// Whether an index of thumbnail sheets is one that a worker wrote.
    ///
    /// - Parameters:
    ///   - stem: The index's file name without extension.
    ///   - bytes: The index.
    static func isIndex(of stem: String, _ bytes: [UInt8]) -> Bool {
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.hasPrefix("WEBVTT\n") else { return false }
        let index = ThumbnailIndex(
            name: stem, columns: 1, rows: 1, width: 0, height: 0, interval: 1, incarnation: 1, kept: text)
        return !index.sheets.isEmpty && index.sheets.allSatisfy { self.isSheet($0, of: stem) }
    }

    /// `NAME-INCARNATION-NUMBER.jpg`.
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

    /// - Returns: `nil` for the name of a file that is somebody else's.
    func kind(of name: String) -> Kind? {
        if let kind = self.kind(ofWhole: name) { return kind }
        // A file that a worker was writing when it was killed.
        guard name.hasPrefix(".") else { return nil }
        for end in [Self.temporary, RecordedNames.partialMark] where name.hasSuffix(end) {
            let whole = String(name.dropFirst().dropLast(end.count))
            if self.kind(ofWhole: whole) != nil { return .note }
            // Files that a worker writes under its claim have its incarnation, too.
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
            // The still and the index keep their names in the next session.
            if name == stem + Self.still || name == stem + Self.index { return .note }
            if Self.isSheet(name, of: stem) { return .media }
        }
        return nil
    }
}
