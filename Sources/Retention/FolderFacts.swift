/// What is decided by of a ``FolderLook``: a few numbers, however many files the directory has.
struct FolderFacts: Sendable, Hashable {
    let kind: FolderLook.Kind
    let room: String?
    /// When the newest file was written, in Unix seconds, without the directories in it; 0 without files.
    let modified: Int64
    /// Files that are removed, without the directories in it, and their bytes.
    let files: Int
    let bytes: Int64
    /// Those of ``files`` by which the directory is recognized.
    let last: Int
    /// The same for the directories in it.
    let innerModified: Int64
    let innerFiles: Int
    let innerBytes: Int64
    /// Files and directories of somebody else.
    let foreign: Int
    /// A store that has not everything yet.
    let unfinishedStore: String?
    let problem: String?

    init(_ look: FolderLook) {
        (self.kind, self.room, self.problem) = (look.kind, look.room, look.problem)
        self.modified = look.files.modified
        self.files = look.files.count
        self.bytes = look.files.bytes
        self.last = look.files.last.count
        self.innerModified = look.inner.map(\.files.modified).max() ?? 0
        self.innerFiles = look.inner.reduce(0) { $0 + $1.files.count }
        self.innerBytes = look.inner.reduce(0) { Self.sum($0, $1.files.bytes) }
        self.foreign = look.files.foreign.count + look.inner.reduce(0) { $0 + $1.files.foreign.count }
        self.unfinishedStore = look.unfinishedStores.first
    }

    /// Saturated: the numbers come from a disk.
    static func sum(_ left: Int64, _ right: Int64) -> Int64 {
        let (sum, isTooLarge) = left.addingReportingOverflow(right)
        return isTooLarge ? .max : sum
    }
}
