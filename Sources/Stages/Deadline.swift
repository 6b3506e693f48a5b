/// Work of others that may never end.
package enum Deadline {
    /// What `work` returns, if it does within `nanoseconds`; then it is cancelled.
    ///
    /// - Returns: `nil` when its time was over, or this task was cancelled: a sequence of bytes that is cancelled ends as if it
    ///   were whole.
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
