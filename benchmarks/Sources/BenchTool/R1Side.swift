/// One side: a program and settings that run R1.
struct R1Side: Sendable {
    /// Names in the order of tables and plots.
    static let names = [
        "ours", "oursThreads", "oursDefault", "oursFast", "oursFaster", "oursLow", "ffmpeg", "ffmpegOneThread",
        "ffmpegNew",
        "gstreamer", "floor",
        "oursOneCore", "ffmpegOneCore",
    ]
    /// Tandem and FFmpeg as users run it, both pinned to one core. The floor also uses one core, so none of the three is slowed
    /// down by other cores that share caches and execution units.
    static let oneCore = (ours: "oursOneCore", ffmpeg: "ffmpegOneCore")

    /// Tandem with `offline.threads` set to the number of cores; it writes the same bytes as `ours`.
    static let threads = "oursThreads"

    /// A room without a preset in its pipeline: veryfast as in the other programs, but no B-frames and little lookahead.
    static let defaultTitle = "Tandem, no preset"

    /// Name in results.
    var name: String
    /// Display name.
    var title: String
    /// The program and its arguments; the first is looked up in PATH.
    var arguments: [String]
    var environment: [String: String] = [:]
    /// Output directory below the work directory; `nil` for the floor, which writes no files.
    var output: String?
    /// Suffix of media files; their names begin with the rendition's name.
    var suffix = ".m4s"

    /// The file that a player opens for a rendition.
    func file(of rendition: String) -> String? {
        self.output.map { "\($0)/\(rendition)" + (self.suffix == ".mp4" ? ".mp4" : ".m3u8") }
    }

    /// The sides, in the order of their turns.
    ///
    /// - Parameters:
    ///   - script: Path of `r1.sh`.
    ///   - work: Directory of the sources.
    ///   - isFull: Whether all programs are compared; otherwise only FFmpeg and the floor.
    ///   - newFFmpeg: Path of a current FFmpeg, if there is one.
    ///   - hasGStreamer: Whether GStreamer with compositor and x264 is installed.
    ///   - floor: Path of the floor's program, if it was built.
    static func all(
        script: String, work: String, isFull: Bool, newFFmpeg: String?, hasGStreamer: Bool, floor: String?
    ) -> [R1Side] {
        var sides = [
            R1Side(name: "ours", title: "Tandem", arguments: [script, "ours", work], output: "ours"),
            R1Side(
                name: "ffmpeg", title: "FFmpeg, as users run it", arguments: [script, "ffmpeg", work], output: "ffmpeg"),
        ]
        if isFull {
            sides += [
                ("oursDefault", "default"), ("oursFast", "tandem-fast"), ("oursFaster", "tandem-faster"),
                ("oursLow", "tandem-lowLatency"),
            ].map {
                R1Side(
                    name: $0.0, title: $0.1 == "default" ? Self.defaultTitle : "Tandem, \($0.1)",
                    arguments: [script, "ours", work],
                    environment: ["PRESET": $0.1, "OUT": $0.0], output: $0.0)
            }
            sides.append(
                R1Side(
                    name: "ffmpegOneThread", title: "FFmpeg, a thread for each codec",
                    arguments: [script, "ffmpeg", work], environment: ["THREADS": "1", "OUT": "ffmpegOneThread"],
                    output: "ffmpegOneThread"))
        }
        if isFull {
            sides.append(
                R1Side(
                    name: Self.threads, title: "Tandem, `offline.threads` set to the number of cores",
                    arguments: [script, "ours", work],
                    environment: ["JOB_THREADS": "\(min(64, Machine.cores))", "OUT": Self.threads], output: Self.threads
                ))
        }
        if isFull, let core = Machine.firstCore {
            let pinned = ["taskset", "--cpu-list", "\(core)", script]
            sides += [
                R1Side(
                    name: Self.oneCore.ours, title: "Tandem, on one core", arguments: pinned + ["ours", work],
                    environment: ["OUT": Self.oneCore.ours], output: Self.oneCore.ours),
                R1Side(
                    name: Self.oneCore.ffmpeg, title: "FFmpeg, on one core", arguments: pinned + ["ffmpeg", work],
                    environment: ["OUT": Self.oneCore.ffmpeg], output: Self.oneCore.ffmpeg),
            ]
        }
        if isFull, let newFFmpeg {
            sides.append(
                R1Side(
                    name: "ffmpegNew", title: "Current FFmpeg, as users run it", arguments: [script, "ffmpeg", work],
                    environment: ["FFMPEG": newFFmpeg, "OUT": "ffmpegNew"], output: "ffmpegNew"))
        }
        if isFull, hasGStreamer {
            sides.append(
                R1Side(
                    name: "gstreamer", title: "GStreamer compositor", arguments: [script, "gstreamer", work],
                    output: "gstreamer", suffix: ".mp4"))
        }
        if let floor { sides.append(R1Side(name: "floor", title: "Floor: the bare codecs", arguments: [floor, work])) }
        return sides
    }
}
