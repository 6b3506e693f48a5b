import Dispatch

extension DispatchQueue {
    /// Runs `work` on the queue after everything that is already queued, and waits until it is finished, but at most
    /// `seconds`, because a disk may hang.
    func run(waiting seconds: Double, _ work: @escaping @Sendable () -> Void) {
        let done = DispatchSemaphore(value: 0)
        self.async {
            work()
            done.signal()
        }
        _ = done.wait(timeout: .now() + seconds)
    }
}
