/// The summary of a ``FolderScan`` by which ``RemovalPlan`` decides. Its size does not depend on the number of files.
struct FolderFacts: Sendable, Hashable {
    let kind: FolderScan.Kind
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

    init(_ scan: FolderScan) {
        (self.kind, self.room, self.problem) = (scan.kind, scan.room, scan.problem)
        self.modified = scan.files.modified
        self.files = scan.files.count
        self.bytes = scan.files.bytes
        self.last = scan.files.last.count
        self.lastBytes = scan.files.lastBytes
        self.innerModified = scan.inner.map(\.files.modified).max() ?? 0
        self.innerFiles = scan.inner.reduce(0) { $0 + $1.files.count }
        self.innerBytes = scan.inner.reduce(0) { Self.sum($0, $1.files.bytes) }
        self.foreign = scan.files.foreign.count + scan.inner.reduce(0) { $0 + $1.files.foreign.count }
        self.unfinishedStore = scan.unfinishedStores.first
    }

    /// Adds two numbers that were read from a disk; `Int64.max` if the sum is too large.
    static func sum(_ left: Int64, _ right: Int64) -> Int64 {
        let (sum, isTooLarge) = left.addingReportingOverflow(right)
        return isTooLarge ? .max : sum
    }
}
