extension Guard {
    /// Beginnings of the names of files with a threshold of their own. The instructions of others, such as the dynamic linker's and
    /// those of the libraries that draw text, depend on what else is installed, for example on the fonts.
    private static let guardedFiles = ["tandem", "libx264", "libav", "libswscale", "libswresample", "libswift"]

    /// Nothing if no count was accepted for these versions; ``incomparable(_:)`` then says so.
    func instructionRegressions(in result: InstructionResult) -> [String] {
        guard let known = self.thresholds.instructions.first(where: { $0.versions == result.versions }) else {
            return []
        }
        func text(_ count: Double) -> String { "\((count / 1e6).rounded(digits: 1)) M instructions" }
        var found: [String] = []
        let most = known.total * (1 + self.thresholds.instructionTolerance)
        if result.total > most {
            found.append("R1: one second takes \(text(result.total)), at most \(text(most))")
        }
        for (name, count) in known.parts.sorted(by: { $0.key < $1.key }) {
            guard Self.guardedFiles.contains(where: name.hasPrefix), let now = result.parts[name] else { continue }
            let most = count * (1 + self.thresholds.instructionPartTolerance)
            if now > most { found.append("R1: one second takes \(text(now)) in \(name), at most \(text(most))") }
        }
        // A file that had less than a thousandth of the instructions before.
        for (name, now) in result.parts.sorted(by: { $0.key < $1.key }) where known.parts[name] == nil {
            guard now > known.total / 100 else { continue }
            found.append("R1: one second takes \(text(now)) in \(name), which is new")
        }
        return found.isEmpty
            ? [] : found + ["R1: if that is intended, run \(Self.renewal) and commit thresholds.json with the change"]
    }

    static let renewal = "`benchmarks/run.sh instructions` and then `benchmarks/run.sh accept`"

    /// Why the result cannot be compared: it was counted with other versions than all accepted counts; `nil` if it can.
    func incomparable(_ result: InstructionResult) -> String? {
        guard !self.thresholds.instructions.contains(where: { $0.versions == result.versions }) else { return nil }
        func difference(_ known: Thresholds.Instructions) -> [String] {
            Set(known.versions.keys).union(result.versions.keys).sorted().filter {
                known.versions[$0] != result.versions[$0]
            }.map { "\($0) is \(result.versions[$0] ?? "unknown") here and \(known.versions[$0] ?? "unknown") there" }
        }
        let nearest = self.thresholds.instructions.map(difference).min { $0.count < $1.count }
        let why = nearest.map { ": " + $0.joined(separator: ", ") } ?? ""
        return
            "instructions of R1 are not compared, since thresholds.json has no count for these versions\(why). To add one, run "
            + "\(Self.renewal) on the last good commit"
    }

    func blockRegressions(in result: BlockResult) -> [String] {
        let most = self.thresholds.liveBlockGrowth
        guard result.growth > most else { return [] }
        return [
            "live heap blocks: \(result.early) around segment \(BlockResult.earlySegment), \(result.late) around segment "
                + "\(BlockResult.lateSegment): \(result.growth) more, at most \(most)"
        ]
    }

    func pairRegressions(in result: PairResult, mode: String) -> [String] {
        var found: [String] = []
        for (name, limit) in (self.thresholds.pairCPURatioMedian[mode] ?? [:]).sorted(by: { $0.key < $1.key }) {
            guard let cpu = result.row(name)?.ratios["cpu"], cpu.median > limit else { continue }
            found.append("pairs: \(cpu.median) times the CPU time of \(name) (median), at most \(limit)")
        }
        guard let row = result.row("ffmpeg") else { return found }
        if let bytes = row.ratios["bytes"], abs(bytes.median - 1) > self.thresholds.r1.sizeTolerance {
            found.append(
                "pairs: the media size is \(bytes.median) times FFmpeg's; allowed deviation from 1: "
                    + "\(self.thresholds.r1.sizeTolerance)")
        }
        let peaks = row.rounds.compactMap(\.ours.peakMemoryMiB)
        if let most = self.thresholds.r1.peakMemoryMedianMiB["ours"], !peaks.isEmpty,
            case let median = Spread(peaks).median, median > most
        {
            found.append("pairs: Tandem has a peak of \(median) MiB (median), at most \(most)")
        }
        return found
    }
}
