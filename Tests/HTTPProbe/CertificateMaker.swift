import Foundation
import TestSupport
package import Testing

/// Makes certificates with the `openssl` program.
package enum CertificateMaker {
    /// `openssl` failed, or a file could not be replaced.
    package struct Missing: Error {}

    /// Checks that this machine can make certificates. If it cannot, then the current test ends as skipped.
    package static func require(sourceLocation: SourceLocation = #_sourceLocation) throws {
        _ = try TestTool.require("openssl", sourceLocation: sourceLocation)
    }

    /// Makes a self-signed certificate for `localhost` and 127.0.0.1, and its key. Each replaces an existing file by
    /// renaming.
    ///
    /// - Parameters:
    ///   - name: The common name.
    ///   - days: Validity from now; negative: it has expired.
    package static func make(certificate: String, key: String, name: String = "localhost", days: Int = 30) throws {
        try self.run([
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout",
            key + ".new", "-out", certificate + ".new", "-subj", "/CN=\(name)", "-addext",
            "subjectAltName=DNS:localhost,IP:127.0.0.1", "-days", String(days),
        ])
        for path in [certificate, key] {
            guard rename(path + ".new", path) == 0 else { throw Missing() }
        }
    }

    @discardableResult
    private static func run(_ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Missing() }
        return String(decoding: bytes, as: UTF8.self)
    }
}
