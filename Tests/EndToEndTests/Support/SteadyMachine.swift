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

    private struct Pause: Sendable {
        var end: Double
        var length: Double
    }

    private struct State: Sendable {
        var pauses: [Pause] = []
        var isRunning = false
    }

    /// Shorter pauses are what any wake-up takes, and are not kept.
    private static let least = 0.002

    private let state = Mutex(State())

    /// Begins a measurement, of which there may be several at a time.
    ///
    /// - Returns: When it began.
    func begin() -> Double {
        let isRunning = self.state.withLock { state in
            defer { state.isRunning = true }
            return state.isRunning
        }
        if !isRunning { Thread { self.run() }.start() }
        return Self.now()
    }

    private func run() {
        while true {
            let before = Self.now()
            usleep(10_000)
            let end = Self.now()
            let late = end - before - 0.01
            if late > Self.least { self.state.withLock { $0.pauses.append(Pause(end: end, length: late)) } }
        }
    }

    /// The longest pause since a measurement began, in seconds.
    func worst(since began: Double) -> Double {
        self.state.withLock { state in
            state.pauses.reversed().prefix { $0.end >= began }.map(\.length).max() ?? 0
        }
    }

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
        let began = StallMeter.shared.begin()
        let before = StallMeter.machine()
        try await withKnownIssue("the machine stood still", isIntermittent: true) {
            try await function()
        } matching: { _ in
            let after = StallMeter.machine()
            let stolen = 100 * (after.stolen - before.stolen) / max(1, after.all - before.all)
            let worst = StallMeter.shared.worst(since: began)
            let isUnsteady = worst > StallMeter.limit || stolen > StallMeter.stolenLimit
            let figures = "worst pause \(worst) s, stolen \(stolen) %"
            EndToEnd.report("\(isUnsteady ? "UNSTEADY" : "steady") machine at a failure of \(test.name): \(figures)")
            return isUnsteady
        }
    }
}

extension Trait where Self == SteadyMachineTrait {
    /// See ``SteadyMachineTrait``.
    static var steadyMachine: Self { Self() }
}
