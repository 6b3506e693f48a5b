/// Time limits for asynchronous work.
package enum Deadline {
    /// Runs `work` and returns its result if it finishes within `nanoseconds`; otherwise cancels it, and still waits
    /// until it returns.
    ///
    /// - Returns: The result of `work`; `nil` if the time was over or this task was cancelled, even if `work` returned
    ///   a result: a cancelled asynchronous byte sequence ends as if it were complete.
    package static func run<R: Sendable>(
        within nanoseconds: Int64, _ work: @escaping @Sendable () async -> R
    ) async -> R? {
        let task = Task { () -> R? in
            let result = await work()
            return Task.isCancelled ? nil : result
        }
        let timer = Task {
            try? await Task.sleep(for: .nanoseconds(max(0, nanoseconds)))
            task.cancel()
        }
        defer { timer.cancel() }
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }
}
