import Foundation
import Testing

/// What a test may take; the long forms take more: `TANDEM_TEST_MINUTES=20`.
let testMinutes = ProcessInfo.processInfo.environment["TANDEM_TEST_MINUTES"].flatMap { Int($0) } ?? 3

/// Everything that starts the real program and is judged in real time. One at a time: the machine that judges must not be the
/// one that is late. What has no such bar is in ``Unhurried``.
@Suite("End to end", .serialized, .timeLimit(.minutes(testMinutes)), .steadyMachine)
enum EndToEnd {
    /// The root of the package.
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().path

    /// The program under test: `TANDEM_BINARY`, or the one that was built beside these tests.
    static let binary: String = {
        if let path = ProcessInfo.processInfo.environment["TANDEM_BINARY"] { return path }
        for directory in [try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")].compactMap({
            $0
        }) {
            let beside = URL(fileURLWithPath: directory).deletingLastPathComponent().appendingPathComponent("tandem")
                .path
            if FileManager.default.isExecutableFile(atPath: beside) { return beside }
        }
        return "\(Self.root)/.build/release/tandem"
    }()

    /// Where a tool of the machine is. Without it the test says so in one loud line and ends.
    static func tool(_ name: String) -> String? {
        let places = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
        let path = places.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
        if path == nil { print("SKIPPED: \(name) is not installed; what it would have judged is not judged") }
        return path
    }

    /// Prints a measurement so that it can be found in the log of a green run.
    static func report(_ text: String) { print("MEASURED: \(text)") }
}

/// What did not come in time, with what is known about why.
struct Missing: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
