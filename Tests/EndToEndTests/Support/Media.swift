import Foundation
import TestSupport
import Testing

/// Runs ffmpeg and ffprobe on files and playlists.
struct Media {
    let ffmpeg: String
    let ffprobe: String

    /// FFmpeg's programs. If they are not installed, then the current test ends as skipped.
    static func require(sourceLocation: SourceLocation = #_sourceLocation) throws -> Media {
        Media(
            ffmpeg: try TestTool.require("ffmpeg", sourceLocation: sourceLocation),
            ffprobe: try TestTool.require("ffprobe", sourceLocation: sourceLocation))
    }

    /// Makes a file with ``Publisher/arguments(size:seconds:hertz:isRealTime:picture:bFrames:)``.
    func make(
        _ path: String, size: String, seconds: Double, hertz: Int = 440, picture: String = "testsrc2", bFrames: Int = 0
    ) throws {
        let result = try Command.run(
            self.ffmpeg,
            Publisher.arguments(
                size: size, seconds: seconds, hertz: hertz, isRealTime: false, picture: picture, bFrames: bFrames)
                + ["-y", path])
        try #require(result.code == 0, "\(result.errors)")
    }

    /// FFmpeg's warnings and errors while it decodes; empty if there are none.
    func complaints(_ path: String) throws -> String {
        let result = try Command.run(
            self.ffmpeg, ["-nostdin", "-v", "warning", "-xerror", "-i", path, "-map", "0", "-f", "null", "-"])
        return result.code == 0 ? result.errors : "exit \(result.code): \(result.errors)"
    }

    /// A running ffprobe.
    struct Probing {
        fileprivate let child: Child
        fileprivate let path: String

        /// One value a line, as `csv=p=0` gives it.
        fileprivate func lines() throws -> [String] {
            let code = try self.child.wait(timeout: 60)
            try #require(code == 0, "ffprobe \(self.path): \(self.child.errors)")
            return self.child.outputLines.filter { !$0.isEmpty }.map { $0.trimmingCharacters(in: ["\r", ","]) }
        }

        /// Waits. Returns presentation times of decoded video or audio frames in seconds, in order.
        func wait() throws -> [Double] { try self.lines().compactMap { Double($0.split(separator: ",").first ?? "") } }
    }

    private func probing(_ path: String, _ arguments: [String]) throws -> Probing {
        Probing(child: try Child(self.ffprobe, ["-v", "error"] + arguments + ["-of", "csv=p=0", path]), path: path)
    }

    /// One value a line, as ffprobe's `csv=p=0` gives it.
    func probe(_ path: String, _ arguments: [String]) throws -> [String] { try self.probing(path, arguments).lines() }

    /// Number of decoded video frames; -1 if ffprobe does not report it.
    func frameCount(_ path: String) throws -> Int {
        let lines = try self.probe(
            path, ["-select_streams", "v:0", "-count_frames", "-show_entries", "stream=nb_read_frames"])
        return lines.first.flatMap { Int($0) } ?? -1
    }

    /// Presentation times of the packets in seconds, and whether each is a key frame.
    func packets(_ path: String, _ stream: String) throws -> [(time: Double, isKey: Bool)] {
        try self.probe(path, ["-select_streams", stream, "-show_entries", "packet=pts_time,flags"]).compactMap { line in
            let fields = line.split(separator: ",")
            guard fields.count >= 2, let time = Double(fields[0]) else { return nil }
            return (time, fields[1].hasPrefix("K"))
        }
    }

    /// Presentation times of decoded video or audio frames in seconds, in order.
    func frameTimes(_ path: String, _ stream: String) throws -> [Double] { try self.frameTiming(path, stream).wait() }

    /// Starts ``frameTimes(_:_:)`` in the background.
    func frameTiming(_ path: String, _ stream: String) throws -> Probing {
        try self.probing(path, ["-select_streams", stream, "-show_entries", "frame=pts_time"])
    }

    /// The MD5 of every frame in the video output of `arguments`.
    func pictureHashes(_ arguments: [String]) throws -> [String] {
        let result = try Command.run(
            self.ffmpeg, ["-nostdin", "-v", "error"] + arguments + ["-an", "-f", "framemd5", "-"])
        try #require(result.code == 0, "\(result.errors)")
        return result.output.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap { line in
            line.split(separator: ",").last.map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }
}
