import Foundation
import Testing

/// Time limit of a test in minutes; long runs need more: `TANDEM_TEST_MINUTES=20`.
let testMinutes = ProcessInfo.processInfo.environment["TANDEM_TEST_MINUTES"].flatMap { Int($0) } ?? 3

/// Tests that start the real program and check real-time limits. They run one at a time, so that they do not slow each
/// other's program down. Tests without such limits are in ``Unhurried``.
@Suite("End to end", .serialized, .timeLimit(.minutes(testMinutes)), .steadyMachine)
enum EndToEnd {
    /// The root of the package.
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().path

    /// The program under test: `TANDEM_BINARY`, or the one built beside these tests.
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

    /// Prints a measurement, so that it can be found in the log of a passed run.
    static func report(_ text: String) { self.printLine("MEASURED: \(text)") }

    /// Prints a line in one write, so that lines of concurrent tests do not mix.
    static func printLine(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
}

/// Something that a test needs failed or did not arrive in time; has what is known about the reason.
struct Missing: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
