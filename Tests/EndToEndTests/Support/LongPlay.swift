import Foundation
import Synchronization
import TestSupport
import Testing

/// A native player that plays for a long time, with the time of each step of its position: a player that waits for
/// media makes none.
final class LongPlay: Sendable {
    enum Player: String, CaseIterable {
        case ffmpeg
        case mpv
        case gstreamer = "GStreamer hlsdemux2"
    }

    private struct Step {
        var at: Double
        /// In seconds of media.
        var position: Double
    }

    let player: Player
    private let child: Child
    private let work: WorkDirectory
    private let steps = Mutex<[Step]>([])

    /// Starts it; nil, and recorded, if it is not installed.
    static func start(_ player: Player, _ url: String) throws -> LongPlay? {
        let tool = player == .gstreamer ? "gst-launch-1.0" : player.rawValue
        guard let path = TestTool.find(tool) else { return nil }
        return try LongPlay(player, path, url)
    }

    private init(_ player: Player, _ path: String, _ url: String) throws {
        self.player = player
        self.work = try WorkDirectory()
        let arguments: [String]
        var environment: [String: String] = ["HOME": self.work.path]
        switch player {
        case .ffmpeg:
            // In real time, like a viewer.
            arguments = [
                "-nostdin", "-v", "warning", "-re", "-i", url, "-map", "0:v:0", "-map", "0:a:0", "-progress", "pipe:1",
                "-stats_period", "0.2", "-f", "null", "-",
            ]
        case .mpv:
            let script = """
                mp.add_periodic_timer(0.1, function()
                  io.write("POSITION ", tostring(mp.get_property_number("time-pos")), "\\n") io.flush()
                end)
                """
            arguments = [
                "--no-config", "--vo=null", "--ao=null", "--no-input-terminal", "--msg-level=all=warn",
                "--script=\(try self.work.write(script, to: "position.lua"))", url,
            ]
        case .gstreamer:
            environment["GST_PLUGIN_FEATURE_RANK"] = "hlsdemux:NONE"
            arguments = [
                "-v", "playbin3", "uri=\(url)",
                "video-sink=fpsdisplaysink text-overlay=false fps-update-interval=200 video-sink=fakevideosink",
                "audio-sink=fakeaudiosink sync=true",
            ]
        }
        self.child = try Child(path, arguments, environment: environment)
        Thread.detachNewThread { [child, weak self] in
            var next = 0
            while self != nil {
                var position: Double?
                let found = child.line(from: next, timeout: 1) { line in
                    position = Self.position(line, player)
                    return position != nil
                }
                if let found, let position {
                    next = found.next
                    self?.took(position)
                } else if !child.isRunning {
                    return
                }
            }
        }
    }

    deinit { self.child.signal(SIGKILL) }

    /// Position in seconds of media, if the line has one; most lines do not.
    private static func position(_ line: String, _ player: Player) -> Double? {
        func number(after start: String) -> Double? {
            guard let range = line.range(of: start) else { return nil }
            return Double(line[range.upperBound...].prefix { $0.isNumber || $0 == "." })
        }
        // The rooms of these tests have 30 frames per second.
        switch player {
        case .ffmpeg: return line.hasPrefix("frame=") ? number(after: "frame=").map { $0 / 30 } : nil
        case .mpv: return line.hasPrefix("POSITION ") ? number(after: "POSITION ") : nil
        case .gstreamer: return number(after: "rendered: ").map { $0 / 30 }
        }
    }

    private func took(_ position: Double) {
        let now = Date().timeIntervalSince1970
        self.steps.withLock { steps in
            if steps.last?.position != position { steps.append(Step(at: now, position: position)) }
        }
    }

    var isRunning: Bool { self.child.isRunning }
    /// The lines of its standard error, each once.
    var complaints: [String] {
        var seen: Set<String> = []
        return self.child.errors.split { $0.isNewline }.map { line in
            // Without memory addresses.
            String(line).replacingOccurrences(of: " @ 0x[0-9a-f]+", with: "", options: .regularExpression)
        }.filter { seen.insert($0).inserted }
    }

    /// Seconds of media played so far.
    var position: Double { self.steps.withLock { ($0.last?.position ?? 0) - ($0.first?.position ?? 0) } }

    /// The longest time without a step from `start`, or from the first step after it, until now, in seconds.
    func longestStandstill(since start: Double) -> Double {
        let times = self.steps.withLock { $0.map(\.at) }.filter { $0 >= start } + [Date().timeIntervalSince1970]
        return zip(times, times.dropFirst()).map { $1 - $0 }.max() ?? 0
    }

    func stop() { self.child.stop(SIGINT) }
}
