import Dispatch

/// Writes lines to a file from a thread of its own: whoever reads the other end of a pipe slowly, or not at all, blocks
/// nobody here. Lines that do not fit any more are dropped.
package final class LineWriter: Sendable {
    private let queue: BoundedQueue<String>
    private let done = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - file: An open file descriptor; stays open.
    ///   - capacity: Lines that may wait.
    package init(file: Int32, capacity: Int = 4096, name: String) {
        let queue = BoundedQueue<String>(capacity: capacity)
        self.queue = queue
        let done = self.done
        _ = StageThread(name) {
            while let line = queue.take() { WholeWrite.write(Array((line + "\n").utf8), to: file) }
            done.signal()
        }
    }

    /// Takes one line, without its newline. Never blocks.
    package func write(_ line: String) {
        _ = self.queue.offer(line)
    }

    /// Writes what is waiting and takes no more; gives up on a reader that does not read within `seconds`.
    package func finish(within seconds: Double = 2) {
        self.queue.close()
        _ = self.done.wait(timeout: .now() + seconds)
    }
}
