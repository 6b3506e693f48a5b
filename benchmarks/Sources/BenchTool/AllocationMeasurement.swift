/// Heap allocations of a live PK room in steady state, by stage, without those of the codec libraries. `floor/allocs.c` counts
/// them by thread.
struct AllocationResult: Codable {
    /// Length of the measurement in seconds of program time.
    var seconds: Double
    /// Allocations per tick by stage; for each stage, those of the thread with the most: `tick` (includes mixing), `scale`,
    /// `decode`, `encode`, `audio`, and `handover` (cuts and lists parts, and formats playlists).
    var perTick: [String: Double]
    var bytesPerTick: [String: Double]
    /// The most frequent call stacks: `STAGE COUNT FILE+OFFSET …`, innermost frame first.
    var places: [String]
}

/// Counts the allocations of a PK room, from ten seconds after its start.
struct AllocationMeasurement {
    let tandem: String
    let ffmpeg: String
    /// Directory of R1's sources.
    let work: String
    /// Path of `allocs.so`.
    let library: String

    /// Start and end of the measurement, in seconds since the start of the process.
    private static let (from, until) = (14.0, 22.0)
    private static let ticksPerSecond = 30.0

    func measure() throws(BenchError) -> AllocationResult {
        let directory = "\(self.work)/allocations"
        try Files.emptyDirectory(directory)
        let file = ChildProcess.path(directory) + "/allocations.txt"
        let room = try BenchRoom(
            tandem: self.tandem,
            pipeline: LiveMeasurement.pk("").split(separator: "%OUT%", omittingEmptySubsequences: false).joined(
                separator: "\(directory)/out"),
            directory: directory,
            environment: [
                "LD_PRELOAD": ChildProcess.path(self.library), "ALLOCS_PROGRAM": Self.name(of: self.tandem),
                "ALLOCS_FILE": file, "ALLOCS_FROM": "\(Self.from)", "ALLOCS_UNTIL": "\(Self.until)",
            ])
        let start = ChildProcess.now()
        for key in ["a", "b"] { try room.publish("\(self.work)/\(key).flv", key: key, ffmpeg: self.ffmpeg) }
        try room.waits(for: "program.started")
        guard ChildProcess.now() - start < Self.from - 10 else {
            throw BenchError("the program started too late: counting begins after 10 s")
        }
        ChildProcess.sleep(until: start + Self.until + 0.5)
        _ = try room.end()
        return Self.result(try Files.text(at: file))
    }

    private static func name(of path: String) -> String { path.split(separator: "/").last.map { String($0) } ?? path }

    private static func stage(of thread: Substring) -> String? {
        switch thread {
        case "program": "tick"
        case "scale", "handover": String(thread)
        case _ where thread.hasPrefix("enc-audio"): "sound"
        case _ where thread.hasPrefix("enc-"): "encode"
        case _ where thread.hasPrefix("dec-"): "decode"
        default: nil
        }
    }

    private static func result(_ text: String) -> AllocationResult {
        let ticks = (Self.until - Self.from) * Self.ticksPerSecond
        var result = AllocationResult(seconds: Self.until - Self.from, perTick: [:], bytesPerTick: [:], places: [])
        var stage: String?
        var shown = 0
        for line in text.split(separator: "\n") {
            if line.hasPrefix("  ") {
                guard let stage, shown < 12 else { continue }
                shown += 1
                result.places.append(stage + line.dropFirst())
                continue
            }
            let words = line.split(separator: "\t")
            stage = words.first.flatMap { Self.stage(of: $0) }
            shown = 0
            guard let stage, words.count == 4, let count = Double(words[1]), let bytes = Double(words[2]) else {
                continue
            }
            let perTick = (count / ticks).rounded(digits: 2)
            guard perTick >= result.perTick[stage] ?? 0 else { continue }
            result.perTick[stage] = perTick
            result.bytesPerTick[stage] = (bytes / ticks).rounded(digits: 0)
        }
        return result
    }
}
