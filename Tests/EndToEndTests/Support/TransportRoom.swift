import Foundation
import Testing

/// A room with MPEG-TS segments beside its HLS output, and its checks.
enum TransportRoom {
    private static let listener = #""http": { "listen": "127.0.0.1:0" } }"#

    /// The pipeline with MPEG-TS segments beside the HLS output.
    static func beside(_ streams: String, _ pipeline: String) throws -> String {
        try #require(pipeline.contains(self.listener))
        return pipeline.replacingOccurrences(
            of: self.listener,
            with: self.listener + #", { "type": "hls", "segmentFormat": "ts", "path": "\#(streams)" }"#)
    }

    /// FFmpeg's warnings and errors while it decodes video and audio; empty if there are none. Metadata streams are left
    /// out, since FFmpeg has no decoder for them.
    static func complaints(_ path: String, _ media: Media, seconds: Int? = nil) throws -> String {
        let result = try Command.run(
            media.ffmpeg,
            ["-nostdin", "-v", "warning", "-xerror", "-i", path] + (seconds.map { ["-t", "\($0)"] } ?? [])
                + ["-map", "0:v", "-map", "0:a", "-f", "null", "-"])
        return result.code == 0 ? result.errors : "exit \(result.code): \(result.errors)"
    }

    /// The content of all MPEG-TS segments in a directory.
    static func segments(_ directory: String) throws -> [Data] {
        try Files.names(in: directory).filter { $0.hasSuffix(".ts") }.map { try Files.bytes("\(directory)/\($0)") }
    }
}
