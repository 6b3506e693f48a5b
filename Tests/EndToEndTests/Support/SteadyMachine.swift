import Foundation
import Glibc
import Synchronization
import Testing

/// Measures how long this machine delayed a thread that only had to wake up. A hypervisor or its other guests take that
/// time, and no program on the machine can make up for it.
final class StallMeter: Sendable {
    /// The longest pause that a live room must hide, in seconds. Child processes of these tests keep both cores busy,
    /// but they delay a wake-up only by milliseconds.
    static let limit = 0.25
    /// The share of CPU time that a hypervisor may take, in percent.
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

    /// Shorter pauses are normal, and are not recorded.
    private static let least = 0.002

    private let state = Mutex(State())

    /// Starts a measurement; several may run at a time.
    ///
    /// - Returns: When it started.
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

    /// Time of all cores so far, and the part that a hypervisor took, in ticks.
    static func machine() -> (all: Double, stolen: Double) {
        guard let text = try? String(contentsOfFile: "/proc/stat", encoding: .utf8) else { return (0, 0) }
        let numbers = text.prefix { $0 != "\n" }.split(separator: " ").dropFirst().compactMap { Double($0) }
        return (numbers.reduce(0, +), numbers.count > 7 ? numbers[7] : 0)
    }
}

/// How well the machine kept time during a measurement.
struct Steadiness: Equatable {
    /// The longest pause of a thread that only had to wake up, in seconds.
    var worstPause: Double
    /// The share of CPU time that a hypervisor took, in percent.
    var stolen: Double

    /// Whether real-time limits are meaningful.
    var isSteady: Bool { self.worstPause <= StallMeter.limit && self.stolen <= StallMeter.stolenLimit }

    var figures: String { "worst pause \(self.worstPause) s, stolen \(self.stolen) %" }
}

/// Measures how well the machine keeps time while a test runs. It changes no result: only ``TimingBar`` reads the measurement.
struct SteadyMachineTrait: SuiteTrait, TestTrait, TestScoping {
    /// The measurement of one test, from its start.
    struct Measurement: Sendable {
        private let began = StallMeter.shared.begin()
        private let before = StallMeter.machine()

        /// The result so far.
        var steadiness: Steadiness {
            let after = StallMeter.machine()
            return Steadiness(
                worstPause: StallMeter.shared.worst(since: self.began),
                stolen: 100 * (after.stolen - self.before.stolen) / max(1, after.all - self.before.all))
        }
    }

    /// The measurement of the current task's test; nil outside of ``steadyMachine`` suites.
    @TaskLocal static var measurement: Measurement?

    var isRecursive: Bool { true }

    func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? { testCase == nil ? nil : self }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await Self.$measurement.withValue(Measurement()) { try await function() }
    }
}

extension Trait where Self == SteadyMachineTrait {
    /// See ``SteadyMachineTrait``.
    static var steadyMachine: Self { Self() }
}
