/// One way to do R1.
struct R1Side: Sendable {
    /// In the order of tables and plots.
    static let names = [
        "ours", "oursDefault", "oursFast", "oursFaster", "oursLow", "ffmpeg", "ffmpegOneThread", "ffmpegNew",
        "gstreamer", "floor",
        "oursOneCore", "ffmpegOneCore",
    ]
    /// Tandem and FFmpeg as users run it, both kept on one core, as the floor is by itself: what the cores of a machine cost one
    /// another by sharing its units and caches is in none of the three.
    static let oneCore = (ours: "oursOneCore", ffmpeg: "ffmpegOneCore")

    /// A room whose pipeline names no preset: veryfast as with the peers, but no B-frames and hardly any lookahead.
    static let defaultTitle = "Tandem, no preset"

    /// As it stands in results.
    var name: String
    /// For people.
    var title: String
    /// The program and its arguments; the first is looked up in PATH.
    var arguments: [String]
    var environment: [String: String] = [:]
    /// Directory of the output under the work directory; `nil` for the floor, which writes none.
    var output: String?
    /// Media files of one rendition begin with its name and end with this.
    var suffix = ".m4s"

    /// What a viewer's player would open.
    func file(of rendition: String) -> String? {
        self.output.map { "\($0)/\(rendition)" + (self.suffix == ".mp4" ? ".mp4" : ".m3u8") }
    }

    /// Who is compared, in the order of their turns.
    ///
    /// - Parameters:
    ///   - script: Path of `r1.sh`.
    ///   - work: Where the sources lie.
    ///   - isFull: All peers; otherwise FFmpeg and the floor.
    ///   - newFFmpeg: Path of a current FFmpeg, if there is one.
    ///   - hasGStreamer: With compositor and x264.
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
