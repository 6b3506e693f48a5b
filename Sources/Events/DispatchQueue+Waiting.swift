import Dispatch

extension DispatchQueue {
    /// Runs `work` after everything that is queued, and waits for it for at most some seconds: a disk may not respond.
    func run(waiting seconds: Double, _ work: @escaping @Sendable () -> Void) {
        let done = DispatchSemaphore(value: 0)
        self.async {
            work()
            done.signal()
        }
        _ = done.wait(timeout: .now() + seconds)
    }
}
