import Dispatch

/// Writes lines to a file from its own thread, so that a slow or stalled reader of a pipe does not block the callers.
/// Lines that do not fit in the queue are dropped.
package final class LineWriter: Sendable {
    private let queue: BoundedQueue<String>
    private let done = DispatchSemaphore(value: 0)

    /// Starts the thread that writes the lines.
    ///
    /// - Parameters:
    ///   - file: An open file descriptor; it is not closed.
    ///   - capacity: Maximum number of waiting lines.
    package init(file: Int32, capacity: Int = 4096, name: String) {
        let queue = BoundedQueue<String>(capacity: capacity)
        self.queue = queue
        let done = self.done
        _ = StageThread(name) {
            while let line = queue.take() { FileWriting.write(Array((line + "\n").utf8), to: file) }
            done.signal()
        }
    }

    /// Queues one line, without its newline. Never blocks.
    package func write(_ line: String) {
        _ = self.queue.offer(line)
    }

    /// Accepts no more lines and waits until the queued lines are written, but at most `seconds`, in case the reader of
    /// a pipe does not read.
    package func finish(within seconds: Double = 2) {
        self.queue.close()
        _ = self.done.wait(timeout: .now() + seconds)
    }
}
