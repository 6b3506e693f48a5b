import Foundation
package import Testing

/// Programs and permissions that a test needs from its machine. If one is missing, then the test is cancelled or checks
/// less, and a log line says so, which `.ci/tests` counts.
package enum TestTool {
    /// Programs installed by `.ci/deps`. If one is missing while ``areRequired`` is set, then the test fails. Programs
    /// downloaded by `.ci/players` and `.ci/aiortc` are not included: an unavailable package index is not a fault of the program.
    package static let installed: Set<String> = ["ffmpeg", "ffprobe"]

    /// Whether ``installed`` must exist: in continuous integration, or if `TANDEM_REQUIRE_TOOLS` is set.
    package static let areRequired = ["CI", "TANDEM_REQUIRE_TOOLS"].contains { name in
        !["", "0", "false"].contains(ProcessInfo.processInfo.environment[name] ?? "")
    }

    /// The path of a program of this machine; nil if it is not installed. Records nothing.
    package static func path(_ name: String) -> String? {
        let places = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
        return places.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// The path of a program; nil, and recorded as ``noteMissing(_:_:sourceLocation:)`` does, if it is not installed.
    package static func find(_ name: String, sourceLocation: SourceLocation = #_sourceLocation) -> String? {
        let path = self.path(name)
        if path == nil { self.noteMissing(name, sourceLocation: sourceLocation) }
        return path
    }

    /// The path of a program. If it is not installed, then the current test ends as skipped.
    package static func require(_ name: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
        guard let path = self.path(name) else { try self.skip(name, sourceLocation: sourceLocation) }
        return path
    }

    /// Ends the current test as skipped, and as failed if the tool is required.
    ///
    /// - Parameters:
    ///   - tool: What is missing, as the summary of `.ci/tests` names it: a program, a feature of one, a permission.
    ///   - reason: Why it is needed or how to get it.
    package static func skip(
        _ tool: String, _ reason: String = "it is not installed", sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Never {
        self.noteMissing(tool, reason, sourceLocation: sourceLocation)
        try Test.cancel("\(tool) is missing: \(reason)", sourceLocation: sourceLocation)
    }

    /// Prints that the current test continues without a tool and so checks less, or is about to be cancelled. The test
    /// fails if the tool is required.
    package static func noteMissing(
        _ tool: String, _ reason: String = "it is not installed", sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let test = Test.current.map { "\($0.sourceLocation.fileName) \($0.name)" } ?? sourceLocation.fileName
        // One write, so that lines of concurrent tests do not mix.
        FileHandle.standardOutput.write(Data("SKIPPED [\(tool)] in \(test): \(reason)\n".utf8))
        guard self.isFailure(missing: tool, areRequired: self.areRequired) else { return }
        Issue.record(
            "\(tool) is missing, and is required on this machine: run .ci/deps",
            sourceLocation: sourceLocation)
    }

    /// Whether a missing tool fails the test instead of skipping it.
    package static func isFailure(missing tool: String, areRequired: Bool) -> Bool {
        areRequired && self.installed.contains(tool)
    }
}
