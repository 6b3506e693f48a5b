import Threading

/// Runs blocking code on a thread of its own, so that the shared threads of the tests stay free for the room.
@discardableResult
func offPool<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        _ = StageThread("harness") { continuation.resume(with: Swift.Result { try body() }) }
    }
}
