import Packager

/// The files of a directory by what they are, and so by when they are removed.
///
/// Names that no worker gives to its files are counted and stay.
struct FolderFiles: Sendable, Hashable {
    /// Playlists except the multivariant one.
    private(set) var playlists: [String] = []
    /// Media. No later session of the room uses these names again.
    private(set) var media: [String] = []
    /// Everything else that workers write, except ``last``.
    private(set) var others: [String] = []
    /// The files by which the next run finds the directory again, in the order of their removal.
    private(set) var last: [String] = []
    /// Files and directories of somebody else.
    private(set) var foreign: [String] = []
    /// Bytes of all files that are removed.
    private(set) var bytes: Int64 = 0
    /// When the newest file of a worker was written, in Unix seconds; 0 without one.
    private(set) var modified: Int64 = 0

    /// Files of all kinds that are removed.
    var count: Int { self.playlists.count + self.media.count + self.others.count + self.last.count }

    /// - Parameters:
    ///   - last: Names by which the directory is recognized; see ``last``.
    ///   - hasMovies: Whether every MP4 is a worker's. Beside live output, only initialization segments are: `TRACK-NUMBER.mp4`.
    ///   - folders: Names of directories that belong to the output and are looked at separately.
    init(
        _ entries: [Folder.Entry], last: [String], hasMovies: Bool = true, folders: (String) -> Bool = { _ in false }
    ) {
        for entry in entries {
            if entry.kind == .directory, folders(entry.name) { continue }
            guard entry.kind == .file, last.contains(entry.name) || Self.isOurs(entry.name),
                hasMovies || !entry.name.hasSuffix(".mp4") || Self.isInitialization(entry.name)
            else {
                self.foreign.append(entry.name)
                continue
            }
            self.bytes &+= entry.bytes
            self.modified = max(self.modified, entry.modified)
            if last.contains(entry.name) { continue }
            if entry.name.hasSuffix(".m3u8") {
                self.playlists.append(entry.name)
            } else if Self.isMedia(entry.name) {
                self.media.append(entry.name)
            } else {
                self.others.append(entry.name)
            }
        }
        self.last = last.filter { name in entries.contains { $0.name == name && $0.kind == .file } }
    }

    /// Plain names of files that workers leave beside their output.
    private static let plain: Set<String> = [
        "edge.json", "edge.mark", "commands.json", "commands.json.aside", "events.jsonl", "events.1.jsonl",
        "crashes.jsonl", ".keys.json", ".origin", "recording.json", "recording.journal", "recording.takes",
    ]

    private static func isOurs(_ name: String) -> Bool {
        self.plain.contains(name) || name.hasSuffix(".m3u8") || self.isMedia(name)
            // Stills, sheets of sprites and their index.
            || [".jpg", ".png", ".vtt"].contains { name.hasSuffix($0) }
            // Unfinished files of workers that were killed.
            || name.hasPrefix(".") && (name.hasSuffix(".tmp") || name.hasSuffix(".partial"))
    }

    private static func isInitialization(_ name: String) -> Bool {
        let stem = name.dropLast(".mp4".count)
        guard let dash = stem.lastIndex(of: "-"), dash > stem.startIndex else { return false }
        let number = stem[stem.index(after: dash)...]
        return !number.isEmpty && number.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    private static func isMedia(_ name: String) -> Bool {
        !name.hasPrefix(".") && [".m4s", ".ts", ".mp4"].contains { name.hasSuffix($0) }
    }
}
