/// The files of a room's directory, in groups that are removed one after the other.
///
/// Files that are not a worker's by their names are in ``foreign`` and are kept.
struct FolderFiles: Sendable, Hashable {
    /// Playlists except the multivariant one.
    private(set) var playlists: [String] = []
    /// Names of media files. No later session of the room uses them again.
    private(set) var media: [String] = []
    /// Other files of workers, except those in ``last``. Ordered by name, so that a still image is removed before the
    /// index of its thumbnail sheets: without the index, the next run would not recognize the image.
    private(set) var others: [String] = []
    /// The files by which the next run recognizes the directory. They are removed after all others, in this order.
    private(set) var last: [String] = []
    /// Names of files and directories that are not a worker's.
    private(set) var foreign: [String] = []
    /// Space in bytes that all files of a worker take on the disk.
    private(set) var bytes: Int64 = 0
    /// How many of ``bytes`` the files in ``last`` take.
    private(set) var lastBytes: Int64 = 0
    /// When the newest file of a worker was written, in Unix seconds; 0 if there is none.
    private(set) var modified: Int64 = 0

    /// Number of all files of a worker.
    var count: Int { self.playlists.count + self.media.count + self.others.count + self.last.count }

    /// - Parameters:
    ///   - entries: Entries of the directory, ordered by name.
    ///   - names: Decides which of the entries are a worker's.
    ///   - last: Names of the files by which the directory is recognized, in the order of their removal.
    ///   - folders: Whether a subdirectory of this name belongs to the output; its files are listed separately.
    init(_ entries: [Folder.Entry], _ names: WorkerNames, last: [String], folders: (String) -> Bool = { _ in false }) {
        var found: Set<String> = []
        for entry in entries {
            if entry.kind == .directory, folders(entry.name) { continue }
            let isLast = last.contains(entry.name)
            let kind = names.kind(of: entry.name)
            guard entry.kind == .file, isLast || kind != nil else {
                self.foreign.append(entry.name)
                continue
            }
            self.bytes = FolderFacts.sum(self.bytes, max(0, entry.bytes))
            self.modified = max(self.modified, entry.modified)
            if isLast {
                self.lastBytes = FolderFacts.sum(self.lastBytes, max(0, entry.bytes))
                found.insert(entry.name)
                continue
            }
            switch kind {
            case .playlist?: self.playlists.append(entry.name)
            case .media?: self.media.append(entry.name)
            case .note?, nil: self.others.append(entry.name)
            }
        }
        self.last = last.filter { found.contains($0) }
    }
}
