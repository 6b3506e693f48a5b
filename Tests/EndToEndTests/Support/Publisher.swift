import Foundation
import Glibc

/// A publisher of a room; stops with the object.
final class Publisher: Sendable {
    let child: Child

    init(_ path: String, _ arguments: [String]) throws { self.child = try Child(path, arguments) }

    deinit { self.child.signal(SIGKILL) }

    /// Tandem's own client with the pattern whose counter, flash and beep are checked.
    static func pattern(
        _ name: String, to url: String, size: String = "1280x720", seconds: Double? = nil
    ) throws -> Publisher {
        try Publisher(
            EndToEnd.binary,
            ["publish", "pattern:\(name)", url, "--size", size] + (seconds.map { ["--duration", "\($0)"] } ?? []))
    }

    /// ffmpeg as a streamer runs it: real time, key frames every 2 s, AAC 48 kHz.
    static func ffmpeg(
        _ ffmpeg: String, to url: String, size: String = "1280x720", seconds: Double = 120, hertz: Int = 440,
        picture: String = "testsrc2"
    ) throws -> Publisher {
        try Publisher(
            ffmpeg,
            self.arguments(size: size, seconds: seconds, hertz: hertz, isRealTime: true, picture: picture)
                + ["-f", "flv", url])
    }

    /// FFmpeg arguments for an encoded test pattern and tone; the caller adds the output.
    ///
    /// - Parameter picture: A source of FFmpeg's lavfi, with or without options: `testsrc2`, `color=c=lime`.
    static func arguments(
        size: String, seconds: Double, hertz: Int, isRealTime: Bool, picture: String = "testsrc2", bFrames: Int = 0
    ) -> [String] {
        let pace = isRealTime ? ["-re"] : []
        let source = "\(picture)\(picture.contains("=") ? ":" : "=")size=\(size):rate=30"
        return ["-nostdin", "-loglevel", "error"] + pace + ["-f", "lavfi", "-i", source] + pace
            + [
                "-f", "lavfi", "-i", "sine=frequency=\(hertz):sample_rate=48000", "-t", "\(seconds)", "-c:v", "libx264",
                "-preset", "ultrafast", "-bf", "\(bFrames)", "-g", "60", "-keyint_min", "60", "-sc_threshold", "0",
                "-b:v", "2048k", "-pix_fmt", "yuv420p", "-colorspace", "bt709", "-color_primaries", "bt709",
                "-color_trc",
                "bt709", "-color_range", "tv", "-threads", "1", "-c:a", "aac", "-b:a", "65536", "-ac", "2",
            ]
    }

    func stop(_ signal: Int32 = SIGTERM) { self.child.stop(signal) }
}
