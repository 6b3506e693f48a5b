import Foundation
import Glibc
import TestSupport
import Testing

/// Native players, each without screen and loudspeaker.
enum NativePlayer: String, CaseIterable {
    case ffmpeg
    case mpv
    case gstreamer = "GStreamer hlsdemux2"
    case oldGStreamer = "GStreamer hlsdemux"
    case vlc = "VLC"

    private var tool: String {
        switch self {
        case .ffmpeg: "ffmpeg"
        case .mpv: "mpv"
        case .gstreamer, .oldGStreamer: "gst-launch-1.0"
        case .vlc: "vlc"
        }
    }

    /// Starts it; nil, and recorded, if it is not installed.
    func play(_ url: String) throws -> NativePlay? {
        guard let path = TestTool.find(self.tool) else { return nil }
        return try NativePlay(self, path, url)
    }

    fileprivate func arguments(_ url: String) -> [String] {
        switch self {
        case .ffmpeg:
            [
                "-hide_banner", "-nostdin", "-v", "warning", "-progress", "pipe:1", "-stats_period", "0.2", "-i", url,
                "-f", "null", "-",
            ]
        case .mpv:
            [
                "--no-config", "--vo=null", "--ao=null", "--msg-level=all=warn,statusline=status",
                "--term-status-msg=shown ${estimated-frame-number} lost ${frame-drop-count}\\n", url,
            ]
        case .gstreamer, .oldGStreamer:
            [
                "-v", self == .gstreamer ? "playbin3" : "playbin", "uri=\(url)",
                "video-sink=fpsdisplaysink text-overlay=false video-sink=fakevideosink",
                "audio-sink=fakeaudiosink sync=true",
            ]
        case .vlc:
            [
                "-I", "oldrc", "--rc-fake-tty", "--no-interact", "--vout", "vdummy", "--aout", "adummy",
                "--no-video-title-show", url,
            ]
        }
    }

    /// Number of frames so far according to its output; the last match counts.
    fileprivate func frameCount(_ text: String) -> Int? {
        let numbers: [Substring] =
            switch self {
            case .ffmpeg: text.matches(of: /frame=\s*(\d+)/).map(\.output.1)
            case .mpv: text.matches(of: /shown (\d+)/).map(\.output.1)
            case .gstreamer, .oldGStreamer: text.matches(of: /rendered: (\d+), dropped/).map(\.output.1)
            case .vlc: text.matches(of: /frames displayed :\s*(\d+)/).map(\.output.1)
            }
        return numbers.last.flatMap { Int($0) }
    }

    /// Lines of its standard output and standard error that report problems with the media.
    fileprivate func complaints(_ output: [String], _ errors: String) -> [String] {
        let lines = errors.split { $0.isNewline }.map { String($0.replacing(/\u{1b}\[[AK]/, with: "")) }
        // ffmpeg's standard output is its progress.
        return (self == .ffmpeg ? lines : output + lines).filter { line in
            switch self {
            // FFmpeg reads the map again after each reload of a live playlist, and logs that it is a duplicate.
            case .ffmpeg: !line.isEmpty && !line.contains("duplicated MOOV")
            case .mpv: !line.isEmpty && !line.hasPrefix("shown ") && !line.contains("duplicated MOOV")
            case .gstreamer, .oldGStreamer:
                line.hasPrefix("ERROR") || line.hasPrefix("WARNING") || line.contains("got EOS")
            // When VLC pauses to extend its buffer it logs a late clock reference, and at the start a missing one.
            case .vlc:
                line.contains(/error|cannot|failed|late picture|corrupted  :\s*[1-9]/.ignoresCase())
                    && !line.contains(/interface|dbus|libvlc|pulse|vdpau|xcb|lua|no error|pts_delay increased/)
                    && !line.contains(/no reference clock|Could not convert timestamp 0/)
            }
        }
    }
}

/// One playback of an address by a ``NativePlayer``.
final class NativePlay {
    /// The result.
    struct Outcome: CustomStringConvertible {
        var player: NativePlayer
        /// Frames shown; for ffmpeg frames decoded.
        var frameCount: Int
        /// Its messages about the media before it was stopped.
        var complaints: [String]
        /// Whether it ended without being asked.
        var gaveUp: Bool

        var description: String {
            "\(self.player.rawValue): \(self.frameCount) pictures\(self.gaveUp ? ", GAVE UP" : "")"
                + (self.complaints.isEmpty ? "" : ", says: \(self.complaints.prefix(4))")
        }
    }

    let player: NativePlayer
    private let child: Child
    /// VLC's home directory, accessible for an unprivileged user.
    private let home: WorkDirectory

    fileprivate init(_ player: NativePlayer, _ path: String, _ url: String) throws {
        self.player = player
        self.home = try WorkDirectory()
        var (program, arguments) = (path, player.arguments(url))
        if player == .vlc, getuid() == 0, let setpriv = TestTool.path("setpriv") {
            // VLC refuses to run as root.
            chmod(self.home.path, 0o777)
            arguments = ["--reuid=nobody", "--regid=nogroup", "--clear-groups", program] + arguments
            program = setpriv
        }
        var environment = ["HOME": self.home.path, "XDG_RUNTIME_DIR": self.home.path]
        switch player {
        case .gstreamer: environment["GST_PLUGIN_FEATURE_RANK"] = "hlsdemux:NONE"
        case .oldGStreamer: environment["GST_PLUGIN_FEATURE_RANK"] = "hlsdemux2:NONE"
        default: break
        }
        self.child = try Child(program, arguments, environment: environment, keepsInput: true)
    }

    deinit { self.child.signal(SIGKILL) }

    var isRunning: Bool { self.child.isRunning }

    /// Frames shown so far; for ffmpeg frames decoded.
    func frameCount() -> Int {
        if self.player == .vlc {
            let start = self.child.outputLines.count
            self.child.send(Array("stats\n".utf8))
            _ = self.child.line(from: start, timeout: 3) { $0.contains("end of statistical info") }
        }
        return self.player.frameCount(self.said) ?? 0
    }

    /// Stops it like a user would.
    func stop() -> Outcome {
        let frameCount = self.frameCount()
        let outcome = Outcome(
            player: self.player, frameCount: frameCount,
            complaints: self.player.complaints(self.child.outputLines, self.child.errors),
            gaveUp: !self.child.isRunning)
        self.child.stop(SIGINT)
        return outcome
    }

    private var said: String { self.child.outputLines.joined(separator: "\n") + "\n" + self.child.errors }
}
