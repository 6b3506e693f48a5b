/// The files of a directory by what they are, and so by when they are removed.
///
/// Names that no worker gives to its files are listed and stay.
struct FolderFiles: Sendable, Hashable {
    /// Playlists except the multivariant one.
    private(set) var playlists: [String] = []
    /// Media. No later session of the room uses these names again.
    private(set) var media: [String] = []
    /// Everything else that workers write, except ``last``. Ordered by name, so that a still and its sheets go before
    /// the index that makes them known.
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
    ///   - entries: Ordered by name.
    ///   - names: Which of them are a worker's.
    ///   - last: Names by which the directory is recognized; see ``last``.
    ///   - folders: Names of directories that belong to the output and are looked at separately.
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
