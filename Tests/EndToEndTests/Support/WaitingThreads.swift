import Foundation
import Testing

/// Threads for tests that block while they wait: Swift's own pool has only as many as the machine has cores.
final class WaitingThreads: TaskExecutor, @unchecked Sendable {
    // @unchecked Sendable: `condition` guards all mutable state.
    /// Three for the tests, and three for events and time limits.
    static let shared = WaitingThreads(count: 6)

    private let condition = NSCondition()
    private var jobs: [UnownedJob] = []

    private init(count: Int) {
        for _ in 0..<count { Thread.detachNewThread { self.run() } }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        self.condition.lock()
        defer { self.condition.unlock() }
        self.jobs.append(job)
        self.condition.signal()
    }

    private func run() {
        while true {
            self.condition.lock()
            while self.jobs.isEmpty { self.condition.wait() }
            let job = self.jobs.removeFirst()
            self.condition.unlock()
            job.runSynchronously(on: self.asUnownedTaskExecutor())
        }
    }
}

/// Runs a suite and everything in it on ``WaitingThreads``.
struct WaitingThreadsTrait: SuiteTrait, TestScoping {
    func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? { test.isSuite ? self : nil }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(WaitingThreads.shared) { try await function() }
    }
}

extension Trait where Self == WaitingThreadsTrait {
    /// See ``WaitingThreadsTrait``.
    static var waitingThreads: Self { Self() }
}
