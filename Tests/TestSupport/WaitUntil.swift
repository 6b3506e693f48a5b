package import Dispatch
package import Testing

/// A wait in a test that timed out.
package struct WaitTimeout: Error, CustomStringConvertible {
    package let description: String
}

/// Waits until `isEnough` holds for the value of `look`, which is called with pauses of two milliseconds.
///
/// The timeout needs both: the time has passed, and `look` was called 100 times per second of `seconds`. So a test that
/// gets little CPU time, because other tests use all threads, does not fail early.
///
/// - Parameters:
///   - what: The condition, as the failure names it.
///   - seconds: The timeout; under a sanitizer multiplied by ``Instrumented/factor``.
/// - Returns: The last value.
/// - Throws: ``WaitTimeout`` with the last value.
@discardableResult
package func waitUntil<Value>(
    _ what: String, seconds: Int = 20, _ look: () async throws -> Value, is isEnough: (Value) -> Bool
) async throws -> Value {
    let end = ContinuousClock.now + .seconds(seconds * Instrumented.factor)
    var looks = 0
    while true {
        let seen = try await look()
        if isEnough(seen) { return seen }
        looks += 1
        guard ContinuousClock.now < end || looks < 100 * seconds else {
            throw WaitTimeout(description: "not within \(seconds) s: \(what); seen last: \(seen)")
        }
        try await Task.sleep(for: .milliseconds(2))
    }
}

/// Waits until a condition holds; see ``waitUntil(_:seconds:_:is:)``.
package func waitUntil(_ what: String, seconds: Int = 20, _ isMet: () async throws -> Bool) async throws {
    try await waitUntil(what, seconds: seconds, isMet) { $0 }
}

extension DispatchSemaphore {
    /// Waits for a signal. If none arrives within `seconds`, times ``Instrumented/factor``, then an issue is recorded and
    /// the test continues.
    ///
    /// - Parameter what: The event, as the issue names it.
    package func wait(for what: String, seconds: Int = 20, sourceLocation: SourceLocation = #_sourceLocation) {
        guard self.wait(timeout: .now() + .seconds(seconds * Instrumented.factor)) == .timedOut else { return }
        Issue.record("not within \(seconds) s: \(what)", sourceLocation: sourceLocation)
    }
}
