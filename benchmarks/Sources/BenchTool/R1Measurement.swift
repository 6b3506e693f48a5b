/// Runs R1 with all sides in turns (A B C A B C), so that other load on the machine affects all of them.
struct R1Measurement {
    static let renditions = ["720p", "480p", "360p"]

    /// Path of `r1.sh`.
    let script: String
    /// Directory for sources and outputs.
    let work: String
    let rounds: Int
    let sides: [R1Side]
    /// `generated`, or a note that real clips were used, without their path.
    let clips: String

    /// - Parameters:
    ///   - before: Earlier rounds to combine with the new ones.
    ///   - keep: Receives the result after every round, so that nothing is lost if the measurement is interrupted.
    func measure(
        before: R1Result? = nil, keep: (R1Result) throws(BenchError) -> Void
    ) throws(BenchError) -> R1Result {
        let load = max(Machine.load, before?.loadBefore ?? 0)
        let sources = try ChildProcess.run([self.script, "sources", self.work])
        guard sources.status == 0 else { throw BenchError("r1.sh sources failed with status \(sources.status)") }
        var runs = before?.runs ?? []
        let first = (runs.map(\.pair).max() ?? 0) + 1
        var result: R1Result?
        for round in first..<first + self.rounds {
            for side in self.sides {
                let run = try self.run(side, round: round)
                Terminal.say(
                    "  R1 \(round)/\(first + self.rounds - 1) \(side.name): \(run.cpuSeconds) CPU s, \(run.wallSeconds) s"
                        + (run.peakMemoryMiB.map { ", \($0) MiB" } ?? ""))
                runs.append(run)
            }
            let made = self.result(runs, load: load)
            try keep(made)
            result = made
        }
        return result ?? self.result(runs, load: load)
    }

    private func result(_ runs: [R1Run], load: Double) -> R1Result {
        R1Result(
            clips: self.clips, loadBefore: load,
            titles: Dictionary(uniqueKeysWithValues: self.sides.map { ($0.name, $0.title) }), runs: runs,
            ratios: Self.ratios(runs),
            presets: Dictionary(
                uniqueKeysWithValues: Set(runs.map(\.side)).filter(Self.isPreset).compactMap { side in
                    Self.ratios(runs, of: side)["ffmpeg"].map { (side, $0) }
                }), oneCore: Self.ratios(runs, of: R1Side.oneCore.ours),
            threads: Self.ratios(runs, of: R1Side.threads), stages: Self.stages(runs),
            peakMemoryMiB: runs.filter { $0.side == "ours" }.compactMap(\.peakMemoryMiB).max() ?? 0)
    }

    private func run(_ side: R1Side, round: Int) throws(BenchError) -> R1Run {
        let output = Self.output(of: side, work: self.work)
        // Threads are sampled for all sides, so that the sampling has the same cost for each. The floor measures itself.
        let usage = try ChildProcess.run(
            side.arguments, environment: side.environment, output: output, samplesThreads: side.output != nil)
        return try Self.run(of: side, usage, round: round, work: self.work)
    }

    /// The file for a side's standard output.
    static func output(of side: R1Side, work: String) -> String { "\(work)/\(side.name).txt" }

    /// The figures of a run that has ended; checks that it did all of its work.
    static func run(of side: R1Side, _ usage: ChildUsage, round: Int, work: String) throws(BenchError) -> R1Run {
        guard usage.status == 0 else {
            throw BenchError("\(side.arguments.joined(separator: " ")) failed with status \(usage.status)")
        }
        guard let output = side.output else {
            return try self.floor(side, round: round, text: Files.text(at: self.output(of: side, work: work)))
        }
        var bytes: [String: Int] = [:]
        for rendition in self.renditions + ["audio"] {
            let directory = "\(work)/\(output)"
            if side.suffix == ".m4s" { try self.checkDuration(of: "\(directory)/\(rendition).m3u8") }
            bytes[rendition] = try Files.size(of: directory) { $0.hasPrefix(rendition) && $0.hasSuffix(side.suffix) }
        }
        return R1Run(
            side: side.name, pair: round, cpuSeconds: usage.cpuSeconds.rounded(digits: 2),
            wallSeconds: usage.wallSeconds.rounded(digits: 2), peakMemoryMiB: usage.peakMemoryMiB.rounded(digits: 1),
            bytes: bytes, stages: side.name == "ours" ? StageTimes.ours(usage) : nil)
    }

    /// The floor measures its own CPU time, without startup.
    private static func floor(_ side: R1Side, round: Int, text: String) throws(BenchError) -> R1Run {
        var stages: [String: Double] = [:]
        var wall = 0.0
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 3, let cpu = Double(words[1]), let seconds = Double(words[2]) else {
                throw BenchError("unexpected output of the floor: “\(line)”")
            }
            stages[String(words[0])] = cpu
            if words[0] != StageTimes.direct { wall += seconds }
        }
        guard Set(stages.keys) == Set(StageTimes.codecs + [StageTimes.direct]) else {
            throw BenchError("the floor measured other stages: \(stages.keys.sorted())")
        }
        let cpu = StageTimes.codecs.reduce(0) { $0 + (stages[$1] ?? 0) }
        return R1Run(
            side: side.name, pair: round, cpuSeconds: cpu.rounded(digits: 3),
            wallSeconds: wall.rounded(digits: 2), peakMemoryMiB: nil, bytes: nil,
            stages: stages.mapValues { $0.rounded(digits: 3) })
    }

    /// Checks that the work is complete: every playlist must have 20 s and be closed.
    private static func checkDuration(of playlist: String) throws(BenchError) {
        let lines = try Files.text(at: playlist).split(separator: "\n")
        let seconds = lines.filter { $0.hasPrefix("#EXTINF:") }
            .compactMap { Double($0.dropFirst(8).prefix { $0 != "," }) }.reduce(0, +)
        guard abs(seconds - 20) < 0.2, lines.contains("#EXT-X-ENDLIST") else {
            throw BenchError("\(playlist) has \(seconds) s instead of 20 s, or is not closed")
        }
    }

    /// Whether the side is Tandem with settings that differ from the other programs'.
    static func isPreset(_ side: String) -> Bool {
        side.hasPrefix("ours") && !["ours", R1Side.oneCore.ours, R1Side.threads].contains(side)
    }

    /// Which sides are compared: those on one core with each other, and all sides with the floor.
    private static func isPeer(_ other: String, of side: String) -> Bool {
        guard !other.hasPrefix("ours") else { return false }
        return other == "floor" || (other == R1Side.oneCore.ffmpeg) == (side == R1Side.oneCore.ours)
    }

    /// One side's figures divided by each other side's of the same round.
    static func ratios(_ runs: [R1Run], of side: String = "ours") -> [String: [String: Spread]] {
        let measures: [(String, (R1Run) -> Double?)] = [
            ("cpu", { $0.cpuSeconds }), ("wall", { $0.wallSeconds }), ("peakMemory", { $0.peakMemoryMiB }),
            ("bytes", { $0.bytes.map { Double($0.values.reduce(0, +)) } }),
        ]
        var ratios: [String: [String: Spread]] = [:]
        for other in Set(runs.map(\.side)) where self.isPeer(other, of: side) {
            for (name, value) in measures {
                // The floor runs its stages one after the other, so its wall time is not comparable.
                if other == "floor", name == "wall" { continue }
                let values = runs.filter { $0.side == side }.compactMap { ours -> Double? in
                    guard let theirs = runs.first(where: { $0.side == other && $0.pair == ours.pair }),
                        let mine = value(ours), let their = value(theirs), their > 0
                    else { return nil }
                    return mine / their
                }
                if !values.isEmpty { ratios[other, default: [:]][name] = Spread(values) }
            }
        }
        return ratios
    }

    /// Medians of the CPU seconds by stage, of Tandem and the floor.
    static func stages(_ runs: [R1Run]) -> [String: [String: Double]] {
        var result: [String: [String: Double]] = [:]
        for side in ["ours", "floor"] {
            let stages = runs.filter { $0.side == side }.compactMap(\.stages)
            for name in Set(stages.flatMap(\.keys)) {
                let median = Spread(stages.map { $0[name] ?? 0 }).median
                result[side, default: [:]][name] = median.rounded(digits: 3)
            }
        }
        return result
    }
}

/// Tandem's CPU time by stage, from the names of its threads.
enum StageTimes {
    /// The stages that the floor also has.
    static let codecs = ["decode", "scale", "encode-720p", "encode-480p", "encode-360p", "aac"]
    /// An additional figure of the floor: scaling each size from the canvas, as the other programs do, instead of the cascade of
    /// `scale`.
    static let direct = "scale-direct"
    /// In processing order.
    static let all = ["read"] + codecs.prefix(1) + ["compose"] + codecs.dropFirst() + ["package", "other"]

    static func ours(_ usage: ChildUsage) -> [String: Double] {
        var stages: [String: Double] = [:]
        for (thread, seconds) in usage.threads {
            let stage =
                switch thread {
                case "program": "compose"
                case "scale": thread
                case "package", "handover": "package"
                case "enc-audio": "aac"
                case _ where thread.hasPrefix("enc-"): "encode-" + thread.dropFirst(4)
                case _ where thread.hasPrefix("dec-"): "decode"
                case _ where thread.hasPrefix("file-"): "read"
                default: "other"
                }
            stages[stage, default: 0] += seconds
        }
        // CPU time after the last sample of a thread.
        stages["other", default: 0] += max(0, usage.cpuSeconds - stages.values.reduce(0, +))
        return stages.mapValues { $0.rounded(digits: 3) }
    }
}
