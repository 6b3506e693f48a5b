import Foundation
import TestSupport
import Testing

/// Media files made by FFmpeg, for formats that scripted publishers cannot send: containers, interlaced video,
/// non-square samples.
enum FFmpegFile {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Runs ffmpeg with these arguments after general ones. If ffmpeg, the encoder, filter or pixel format is missing,
    /// then the current test ends as skipped.
    static func make(_ arguments: [String], sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let tool = try TestTool.require("ffmpeg", sourceLocation: sourceLocation)
        let (code, errors) = try await offPool {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: tool)
            process.arguments = ["-nostdin", "-v", "error", "-y"] + arguments
            process.standardInput = FileHandle.nullDevice
            let pipe = Pipe()
            process.standardError = pipe
            try process.run()
            let errors = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            return (process.terminationStatus, errors)
        }
        if code == 0 { return }
        let lacks = ["Unknown encoder", "No such filter", "ncompatible pixel format", "not support"]
        guard lacks.contains(where: { errors.contains($0) }) else {
            throw Failure(description: "ffmpeg \(arguments.joined(separator: " ")): \(errors)")
        }
        let reason = errors.split(separator: "\n").joined(separator: "; ")
        try TestTool.skip("a feature of ffmpeg", reason, sourceLocation: sourceLocation)
    }
}
