import Threading

/// Runs what blocks on a thread of its own: the threads that tests share stay free for what the room does on them.
@discardableResult
func offPool<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        _ = StageThread("harness") { continuation.resume(with: Swift.Result { try body() }) }
    }
}
