import MediaTypes

/// Removes files of one directory. Checks before each removal that no worker has begun a session in the directory.
///
/// A worker that begins a session writes one of ``marks`` first. It waits at most one second for the directory's lock
/// and then continues without the lock. Therefore the lock is held for a quarter of a second at a time.
struct FolderRemoval {
    /// How long the directory's lock is held at a time, in nanoseconds; workers wait four times as long for it.
    private static let longestLock: Int64 = 250_000_000

    /// Unix time in seconds. The removal keeps a file that was changed later, and ends there. Subdirectories have a
    /// limit of their own.
    let newest: Int64
    /// Files that a worker writes when it begins a session, in the versions that this removal expects.
    private(set) var marks: [FolderScan.Mark]
    /// Monotonic time in nanoseconds.
    let clock: @Sendable () -> Int64
    private(set) var result = DirectoryRetention.Removal()

    init(_ scan: FolderScan, newest: Int64, clock: @escaping @Sendable () -> Int64) {
        (self.newest, self.marks, self.clock) = (newest, scan.marks, clock)
    }

    /// Removes files without the directory's lock, because no later session writes files of these names.
    ///
    /// - Returns: Whether all files were removed. If not, ``result`` contains the reason.
    mutating func remove(
        _ names: [String], in folder: borrowing Folder, _ isAllowed: (String) -> Bool
    ) -> Bool {
        for name in names where !self.remove(name, in: folder, of: folder, self.newest, isAllowed) { return false }
        return true
    }

    /// Removes files of `inside`, a subdirectory of `folder`.
    ///
    /// - Parameter newest: Unix time in seconds. The removal keeps a file that was changed later, and ends there.
    mutating func remove(
        _ names: [String], in inside: borrowing Folder, of folder: borrowing Folder, newest: Int64,
        _ isAllowed: (String) -> Bool
    ) -> Bool {
        for name in names where !self.remove(name, in: inside, of: folder, newest, isAllowed) { return false }
        return true
    }

    /// Removes files whose names a new session uses again. Takes the directory's lock, which workers also take, for a
    /// quarter of a second at a time.
    ///
    /// - Returns: Whether all files were removed. If not, ``result`` contains the reason.
    mutating func removeLocked(
        _ names: [String], in folder: borrowing Folder, _ isAllowed: (String) -> Bool
    ) -> Bool {
        var rest = names[...]
        while !rest.isEmpty {
            if let problem = Self.lock(folder) {
                self.result.problem = problem
                return false
            }
            defer { folder.unlock() }
            let start = self.clock()
            repeat {
                guard let name = rest.popFirst() else { break }
                guard self.remove(name, in: folder, of: folder, self.newest, isAllowed) else { return false }
            } while self.clock() &- start < Self.longestLock
        }
        return true
    }

    /// Takes the lock of a directory.
    ///
    /// - Returns: Why the lock cannot be taken; `nil` if it was taken.
    static func lock(_ folder: borrowing Folder) -> String? {
        guard let error = folder.lock() else { return nil }
        return error.isBusy
            ? "a worker is using the directory; the next run continues"
            : "the directory's lock cannot be taken: \(error.text)"
    }

    private mutating func remove(
        _ name: String, in inside: borrowing Folder, of folder: borrowing Folder, _ newest: Int64,
        _ isAllowed: (String) -> Bool
    ) -> Bool {
        guard isAllowed(name) else {
            self.result.problem = "stopped"
            return false
        }
        guard self.marks.allSatisfy({ folder.version($0.name) == $0.version }) else {
            self.result.problem = "a new session of the room has begun in the directory"
            return false
        }
        switch inside.remove(name, notAfter: newest) {
        case .done: break
        case .isNewer:
            self.result.problem = "\(name) was written after the check; the next run checks again"
            return false
        case .failed(let error):
            self.result.problem = "\(name) cannot be removed: \(error.text)"
            return false
        }
        self.result.files += 1
        if inside.identity == folder.identity, let index = self.marks.firstIndex(where: { $0.name == name }) {
            self.marks[index].version = nil
        }
        return true
    }
}
