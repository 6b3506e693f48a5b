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

    /// Prints a measurement so that it can be found in the log of a green run.
    static func report(_ text: String) { self.printLine("MEASURED: \(text)") }

    /// Prints a line in one write, so that lines of tests that run at the same time do not mix.
    static func printLine(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
}

/// What did not come in time, with what is known about why.
struct Missing: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
