package import Dispatch
package import Testing

/// A wait of a test that ended in vain.
package struct WaitTimeout: Error, CustomStringConvertible {
    package let description: String
}

/// Waits until `isEnough` holds of what `look` sees. It looks every two milliseconds.
///
/// Time in which the test's own thread gets no turn, since other tests hold them all, does not count: it looks a hundred times for
/// each second at least.
///
/// - Parameters:
///   - what: What is waited for, as the failure names it.
///   - seconds: How long; under a sanitizer ``Instrumented/factor`` times as long.
/// - Returns: What was seen last.
/// - Throws: ``WaitTimeout`` with what was seen last.
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
    /// Waits for a signal. If none comes within `seconds`, then an issue is recorded and the test goes on.
    ///
    /// - Parameter what: What is waited for, as the issue names it.
    package func wait(for what: String, seconds: Int = 20, sourceLocation: SourceLocation = #_sourceLocation) {
        guard self.wait(timeout: .now() + .seconds(seconds * Instrumented.factor)) == .timedOut else { return }
        Issue.record("not within \(seconds) s: \(what)", sourceLocation: sourceLocation)
    }
}
