/// R1 by both sides, in turns: A B A B, so that what the machine does beside hits both.
struct R1Measurement {
    /// Path of `r1.sh`.
    let script: String
    /// Directory for sources and outputs.
    let work: String
    let pairs: Int
    /// FFmpeg with one thread for each codec and filter as a third side.
    let includesOneThread: Bool
    /// `generated`, or that real clips were used; not where they lay.
    let clips: String

    private struct Side {
        var name: String
        /// Argument of `r1.sh`, and its output directory.
        var command: String
        var environment: [String: String] = [:]
    }

    private var sides: [Side] {
        [Side(name: "ours", command: "ours"), Side(name: "ffmpeg", command: "ffmpeg")]
            + (self.includesOneThread
                ? [Side(name: "ffmpegOneThread", command: "ffmpeg", environment: ["THREADS": "1"])] : [])
    }

    func measure() throws(BenchError) -> R1Result {
        let sources = try ChildProcess.run([self.script, "sources", self.work])
        guard sources.status == 0 else { throw BenchError("r1.sh sources failed with status \(sources.status)") }
        var runs: [R1Run] = []
        for pair in 1...self.pairs {
            for side in self.sides {
                let run = try self.run(side, pair: pair)
                Terminal.say(
                    "  R1 \(pair)/\(self.pairs) \(side.name): \(run.cpuSeconds) CPU s, \(run.wallSeconds) s,"
                        + " \(run.peakMemoryMiB) MiB")
                runs.append(run)
            }
        }
        return R1Result(
            clips: self.clips, runs: runs, ratios: Self.ratios(runs),
            peakMemoryMiB: runs.filter { $0.side == "ours" }.map(\.peakMemoryMiB).max() ?? 0)
    }

    private func run(_ side: Side, pair: Int) throws(BenchError) -> R1Run {
        let usage = try ChildProcess.run([self.script, side.command, self.work], environment: side.environment)
        guard usage.status == 0 else { throw BenchError("r1.sh \(side.command) failed with status \(usage.status)") }
        let directory = "\(self.work)/\(side.command)"
        var bytes: [String: Int] = [:]
        for rendition in ["720p", "480p", "360p", "audio"] {
            try self.checkDuration(of: "\(directory)/\(rendition).m3u8")
            bytes[rendition] = try Files.size(of: directory) { $0.hasPrefix(rendition) && $0.hasSuffix(".m4s") }
        }
        return R1Run(
            side: side.name, pair: pair, cpuSeconds: usage.cpuSeconds.rounded(digits: 2),
            wallSeconds: usage.wallSeconds.rounded(digits: 2), peakMemoryMiB: usage.peakMemoryMiB.rounded(digits: 1),
            bytes: bytes)
    }

    /// Half the work would be half the time: every playlist must hold the whole 20 s and be ended.
    private func checkDuration(of playlist: String) throws(BenchError) {
        let lines = try Files.text(at: playlist).split(separator: "\n")
        let seconds = lines.filter { $0.hasPrefix("#EXTINF:") }
            .compactMap { Double($0.dropFirst(8).prefix { $0 != "," }) }.reduce(0, +)
        guard abs(seconds - 20) < 0.2, lines.contains("#EXT-X-ENDLIST") else {
            throw BenchError("\(playlist) holds \(seconds) s instead of 20 s, or has no end")
        }
    }

    private static func ratios(_ runs: [R1Run]) -> [String: Spread] {
        let measures: [(String, (R1Run) -> Double)] = [
            ("cpu", { $0.cpuSeconds }), ("wall", { $0.wallSeconds }), ("peakMemory", { $0.peakMemoryMiB }),
            ("bytes", { Double($0.bytes.values.reduce(0, +)) }),
        ]
        var ratios: [String: Spread] = [:]
        for (other, suffix) in [("ffmpeg", ""), ("ffmpegOneThread", "VersusOneThread")] {
            let theirs = runs.filter { $0.side == other }
            let pairs = runs.filter { $0.side == "ours" }.compactMap { ours in
                theirs.first { $0.pair == ours.pair }.map { (ours, $0) }
            }
            if pairs.isEmpty { continue }
            for (name, value) in measures {
                ratios[name + suffix] = Spread(pairs.map { value($0) / max(value($1), 1e-9) })
            }
        }
        return ratios
    }
}
