import Synchronization

/// The files that one listener holds open for its clients: so many and no more, since each takes a descriptor that somebody
/// else in the process may need.
package final class OpenFiles: Sendable {
    private let most: Int
    private let count = Mutex(0)

    package init(most: Int) { self.most = most }

    /// A place for one more file, to be followed by ``opened(_:)``; false if there is none.
    package func take() -> Bool {
        self.count.withLock { count in
            guard count < self.most else { return false }
            count += 1
            return true
        }
    }

    /// The file in the place that was taken, for as long as anybody has it; without a file the place is free again. Blocks.
    package func opened(_ path: String) -> ServedFile? {
        let file = ServedFile(path: path, counted: self)
        if file == nil { self.giveBack() }
        return file
    }

    func giveBack() { self.count.withLock { $0 -= 1 } }
}
