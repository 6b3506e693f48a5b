import Synchronization

/// Limits the number of files that one listener keeps open for its clients, because the rest of the process needs file
/// descriptors too.
package final class FileSlots: Sendable {
    private let most: Int
    private let count = Mutex(0)

    package init(most: Int) { self.most = most }

    /// Reserves permission to open one more file; call ``opened(_:)`` next. Returns false if the maximum number of
    /// files is open.
    package func take() -> Bool {
        self.count.withLock { count in
            guard count < self.most else { return false }
            count += 1
            return true
        }
    }

    /// Opens a file after ``take()`` has returned true. The reservation ends with the file's last reference, or at once
    /// if the file cannot be opened. Blocks.
    package func opened(_ path: String) -> ServedFile? {
        let file = ServedFile(path: path, counted: self)
        if file == nil { self.giveBack() }
        return file
    }

    func giveBack() { self.count.withLock { $0 -= 1 } }
}
