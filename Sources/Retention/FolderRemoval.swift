import MediaTypes

/// Removes files of one directory, and checks before each of them that the directory is still as it was found.
///
/// A worker that begins a session in it writes one of ``marks`` first. It waits at most a second for the lock and goes on
/// without it then, so the lock is held for less than that.
struct FolderRemoval {
    /// How long the lock is held at a time, in nanoseconds; workers wait four times as long.
    private static let longestLock: Int64 = 250_000_000

    /// Files that were changed after this time stay, and end the removal; Unix seconds. A later time holds for the
    /// directories in it.
    let newest: Int64
    /// Files that say that a worker uses the directory, as they were when it was found.
    private(set) var marks: [FolderLook.Mark]
    /// Monotonic time in nanoseconds.
    let clock: @Sendable () -> Int64
    private(set) var result = DirectoryRetention.Removal()

    init(_ look: FolderLook, newest: Int64, clock: @escaping @Sendable () -> Int64) {
        (self.newest, self.marks, self.clock) = (newest, look.marks, clock)
    }

    /// Removes files without the lock: nobody writes their names again.
    ///
    /// - Parameter inside: The directory in `folder` that has the files; `nil`: `folder` itself.
    /// - Returns: Whether all of them are removed; ``Removal/problem`` says why not.
    mutating func remove(
        _ names: [String], in folder: borrowing Folder, _ isAllowed: (String) -> Bool
    ) -> Bool {
        for name in names where !self.remove(name, in: folder, of: folder, self.newest, isAllowed) { return false }
        return true
    }

    /// Removes files of a directory in `folder`.
    ///
    /// - Parameter newest: Like ``newest``.
    mutating func remove(
        _ names: [String], in inside: borrowing Folder, of folder: borrowing Folder, newest: Int64,
        _ isAllowed: (String) -> Bool
    ) -> Bool {
        for name in names where !self.remove(name, in: inside, of: folder, newest, isAllowed) { return false }
        return true
    }

    /// Removes files whose names a new session uses again, under the lock that workers take.
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
    /// - Returns: Why it cannot be taken.
    static func lock(_ folder: borrowing Folder) -> String? {
        guard let error = folder.lock() else { return nil }
        return error.isBusy
            ? "a worker is using it; the next run continues"
            : "its lock cannot be taken: \(error.text)"
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
            self.result.problem = "a new session has begun in it"
            return false
        }
        switch inside.remove(name, notAfter: newest) {
        case .done: break
        case .isNewer:
            self.result.problem = "\(name) has been written meanwhile; the next run looks again"
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
