/// The commands that produce each part of a result, for reproduction. Paths are replaced by `DIR` and `PROGRAM`.
enum PartCommands {
    /// Environment variables that affect a part and are recorded with their values.
    private static let told: Set<String> = [
        "COUNTS", "PAIRS", "R1_MORE", "LIVE_SECONDS", "LIVE_MINUTES", "SEARCH_SECONDS", "SEARCH_MOST", "SEARCH_PLAN",
    ]
    /// By part, in the order in which they are written.
    private static let variables: [String: [String]] = [
        "kernels": [],
        "instructions": ["COUNTS", "FFMPEG", "TANDEM"],
        "blocks": ["FFMPEG", "TANDEM"],
        "pairs": ["R1_CLIPS", "PAIRS", "FFMPEG", "TANDEM"],
        "r1": ["R1_CLIPS", "PAIRS", "R1_MORE", "FFMPEG", "NEW_FFMPEG", "TANDEM"],
        "places": ["R1_CLIPS", "TANDEM"],
        "quality": ["R1_CLIPS", "NEW_FFMPEG"],
        "allocations": ["R1_CLIPS", "FFMPEG", "TANDEM"],
        "live": ["R1_CLIPS", "LIVE_SECONDS", "LIVE_MINUTES", "FFMPEG", "TANDEM"],
        "passthrough": ["R1_CLIPS", "PAIRS", "FFMPEG", "TANDEM"],
        "growth": ["R1_CLIPS", "TANDEM"],
        "search": ["SEARCH_CLIPS", "SEARCH_PLAN", "SEARCH_SECONDS", "SEARCH_MOST", "FFMPEG", "NEW_FFMPEG"],
    ]

    static var parts: [String] { self.variables.keys.sorted() }

    /// The commands of a part: the measurement itself and the programs that it runs.
    ///
    /// - Parameters:
    ///   - jobs: Additional commands that it runs, in readable form.
    ///   - value: A variable of the environment.
    static func of(_ part: String, jobs: [String] = [], value: (String) -> String?) -> [String] {
        let set = (self.variables[part] ?? []).compactMap { name in
            value(name).map { value in
                let text = self.told.contains(name) ? value : name.hasSuffix("_CLIPS") ? "DIR" : "PROGRAM"
                return "\(name)=\(text)"
            }
        }
        return [(set + ["BenchTool measure \(part) RESULT.json"]).joined(separator: " ")] + self.jobs(of: part) + jobs
    }

    private static func jobs(of part: String) -> [String] {
        let publisher = "ffmpeg -v quiet -nostdin -re -stream_loop -1 -i DIR/a.flv -c copy -f flv rtmp://HOST/live/a"
        return switch part {
        case "kernels": ["valgrind --tool=callgrind KernelRunner CASE"]
        case "instructions": ["benchmarks/instructions.sh DIR RUNS"]
        case "blocks": ["LD_PRELOAD=work/blocks.so tandem run DIR/blocks/pipeline.json"]
        case "r1": ["benchmarks/r1.sh sources DIR"]
        case "pairs":
            ["ours", "ffmpeg"].map { "taskset --cpu-list CORE benchmarks/r1.sh \($0) DIR" }
        case "places": ["LD_PRELOAD=work/where.so benchmarks/r1.sh ours DIR"]
        case "quality": ["benchmarks/r1.sh vmaf DIR DIR/SIDE/RENDITION.m3u8 SCORES.json"]
        case "allocations": ["LD_PRELOAD=work/allocs.so tandem run DIR/allocations/pipeline.json", publisher]
        case "live": ["tandem run DIR/roomN/pipeline.json --log-level error", publisher]
        case "passthrough": ["benchmarks/passthrough.sh sources DIR"]
        case "growth": ["tandem run DIR/growth/pipeline.json --log-level error"]
        default: []
        }
    }
}

extension BenchResult {
    /// Adds commands without duplicates.
    mutating func note(_ commands: [String]) {
        for command in commands where !self.commands.contains(command) { self.commands.append(command) }
    }
}
