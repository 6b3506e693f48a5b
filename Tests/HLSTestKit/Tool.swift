import Foundation
import TestSupport
package import Testing

/// A program of this machine that is run to its end, with its output.
package struct Tool: Sendable {
    package let path: String

    /// The program. If it is not installed, then the current test ends as skipped.
    package static func require(_ name: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> Tool {
        Tool(path: try TestTool.require(name, sourceLocation: sourceLocation))
    }

    /// Runs the program, with empty standard input, and waits for its end.
    ///
    /// - Returns: Standard output and error, and the exit code (the signal if one ended it).
    package func run(_ arguments: [String]) throws -> (output: String, errors: String, code: Int32) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: self.path)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        // Not pipes, which could fill up and block the program.
        let base = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        let files = [base.appendingPathExtension("out"), base.appendingPathExtension("err")]
        for file in files { try Data().write(to: file) }
        defer { for file in files { try? FileManager.default.removeItem(at: file) } }
        process.standardOutput = try FileHandle(forWritingTo: files[0])
        process.standardError = try FileHandle(forWritingTo: files[1])
        try process.run()
        process.waitUntilExit()
        let texts = try files.map { String(decoding: try Data(contentsOf: $0), as: UTF8.self) }
        return (texts[0], texts[1], process.terminationStatus)
    }
}
