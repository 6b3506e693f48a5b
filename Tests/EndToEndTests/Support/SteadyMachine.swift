import Foundation
import Glibc
import Synchronization
import Testing

/// How long this machine kept a thread that had nothing to do but wake up: what a hypervisor or its neighbours take, and
/// what no program on it can make up for.
final class StallMeter: Sendable {
    /// A pause that a live room is not asked to hide, in seconds. Children of these tests keep both cores busy; a wake-up
    /// that is due waits for a few milliseconds then, not for this long.
    static let limit = 0.25
    /// The share of the machine's time that others may take, in 1/100.
    static let stolenLimit = 8.0

    static let shared = StallMeter()

    private struct State: Sendable {
        var worst = 0.0
        var isRunning = false
    }

    private let state = Mutex(State())

    /// Begins a measurement; one at a time, as the tests run.
    func begin() {
        let isRunning = self.state.withLock { state in
            state.worst = 0
            defer { state.isRunning = true }
            return state.isRunning
        }
        if !isRunning { Thread { self.run() }.start() }
    }

    private func run() {
        while true {
            let before = Self.now()
            usleep(10_000)
            let late = Self.now() - before - 0.01
            self.state.withLock { $0.worst = max($0.worst, late) }
        }
    }

    /// The longest pause since ``begin()``, in seconds.
    var worst: Double { self.state.withLock { $0.worst } }

    private static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Time of all cores so far and what a hypervisor took of it, in ticks.
    static func machine() -> (all: Double, stolen: Double) {
        guard let text = try? String(contentsOfFile: "/proc/stat", encoding: .utf8) else { return (0, 0) }
        let numbers = text.prefix { $0 != "\n" }.split(separator: " ").dropFirst().compactMap { Double($0) }
        return (numbers.reduce(0, +), numbers.count > 7 ? numbers[7] : 0)
    }
}

/// Bars in real time hold on a machine that keeps time. When it stood still for ``StallMeter/limit`` during a test, or
/// others took ``StallMeter/stolenLimit`` of its time, what fails in that test is reported as known and told apart from
/// a fault of the program; on a steady machine every failure counts.
struct SteadyMachineTrait: SuiteTrait, TestTrait, TestScoping {
    var isRecursive: Bool { true }

    func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? { testCase == nil ? nil : self }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        StallMeter.shared.begin()
        let before = StallMeter.machine()
        try await withKnownIssue("the machine stood still", isIntermittent: true) {
            try await function()
        } matching: { _ in
            let after = StallMeter.machine()
            let stolen = 100 * (after.stolen - before.stolen) / max(1, after.all - before.all)
            let isUnsteady = StallMeter.shared.worst > StallMeter.limit || stolen > StallMeter.stolenLimit
            let figures = "worst pause \(StallMeter.shared.worst) s, stolen \(stolen) %"
            EndToEnd.report("\(isUnsteady ? "UNSTEADY" : "steady") machine at a failure of \(test.name): \(figures)")
            return isUnsteady
        }
    }
}

extension Trait where Self == SteadyMachineTrait {
    /// See ``SteadyMachineTrait``.
    static var steadyMachine: Self { Self() }
}
