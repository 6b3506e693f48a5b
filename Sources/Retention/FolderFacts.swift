/// The summary of a ``FolderLook`` by which ``Judgement`` decides. Its size does not depend on the number of files.
struct FolderFacts: Sendable, Hashable {
    let kind: FolderLook.Kind
    let room: String?
    /// When the newest file of a worker was written, in Unix seconds, without subdirectories; 0 if there is no file.
    let modified: Int64
    /// Number of files that a worker wrote, without subdirectories.
    let files: Int
    /// Space in bytes on the disk of the files that a worker wrote, without subdirectories.
    let bytes: Int64
    /// How many of ``files`` identify the directory. They are removed last.
    let last: Int
    /// How many of ``bytes`` these files take.
    let lastBytes: Int64
    /// When the newest file of a worker in the subdirectories was written, in Unix seconds; 0 if there is no file.
    let innerModified: Int64
    /// Number of files that a worker wrote into the subdirectories.
    let innerFiles: Int
    /// Space in bytes on the disk of the files that a worker wrote into the subdirectories.
    let innerBytes: Int64
    /// Number of files and directories that are not a worker's.
    let foreign: Int
    /// Id of a store whose upload is not complete; `nil` if all uploads are complete.
    let unfinishedStore: String?
    /// Why a part of the directory could not be read; `nil` if all of it was read.
    let problem: String?

    init(_ look: FolderLook) {
        (self.kind, self.room, self.problem) = (look.kind, look.room, look.problem)
        self.modified = look.files.modified
        self.files = look.files.count
        self.bytes = look.files.bytes
        self.last = look.files.last.count
        self.lastBytes = look.files.lastBytes
        self.innerModified = look.inner.map(\.files.modified).max() ?? 0
        self.innerFiles = look.inner.reduce(0) { $0 + $1.files.count }
        self.innerBytes = look.inner.reduce(0) { Self.sum($0, $1.files.bytes) }
        self.foreign = look.files.foreign.count + look.inner.reduce(0) { $0 + $1.files.foreign.count }
        self.unfinishedStore = look.unfinishedStores.first
    }

    /// Adds two numbers that were read from a disk; `Int64.max` if the sum is too large.
    static func sum(_ left: Int64, _ right: Int64) -> Int64 {
        let (sum, isTooLarge) = left.addingReportingOverflow(right)
        return isTooLarge ? .max : sum
    }
}
