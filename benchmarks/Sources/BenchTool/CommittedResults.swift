/// The dated results in `results`, which the README and the guides quote.
enum CommittedResults {
    /// Parts whose newest committed result must hold the thresholds. The hot loops are counted anew in every run.
    static let guarded = ["r1", "quality", "allocations", "live", "passthrough"]

    /// All that can be read, by file name; results of an older form stay for the record.
    static func all() -> [(name: String, result: BenchResult)] {
        Files.names(in: "results").filter { $0.hasSuffix(".json") }.sorted().compactMap { name in
            (try? Files.read(BenchResult.self, from: "results/\(name)")).map { (name, $0) }
        }
    }

    /// The newest result that has the part whole: R1 with all presets, by the date inside.
    static func newest(
        _ results: [(name: String, result: BenchResult)], of part: String
    ) -> (name: String, result: BenchResult)? {
        results.filter { self.has(part, $0.result) }.max { $0.result.date < $1.result.date }
    }

    /// The newest result of R1 with one side in it, or the newest that judged this side's quality if none was timed.
    static func newest(
        _ results: [(name: String, result: BenchResult)], withSide side: String
    ) -> (name: String, result: BenchResult)? {
        let timed = results.filter { $0.result.r1?.runs.contains { $0.side == side } == true }
        let judged = results.filter { $0.result.quality?.contains { $0.side == side } == true }
        return (timed.isEmpty ? judged : timed).max { $0.result.date < $1.result.date }
    }

    /// The newest result that judged one side's quality.
    static func newest(
        _ results: [(name: String, result: BenchResult)], judging side: String
    ) -> (name: String, result: BenchResult)? {
        results.filter { $0.result.quality?.contains { $0.side == side } == true }.max {
            $0.result.date < $1.result.date
        }
    }

    /// What to say of the newest result of passthrough if it has too few rounds to be guarded; nil if it has enough.
    ///
    /// It is a failure once any committed result has enough rounds: from then on there is no reason to publish less.
    static func fewRounds(
        of newest: BenchResult, in results: [(name: String, result: BenchResult)]
    ) -> (what: String, isFailure: Bool)? {
        func hasEnough(_ result: BenchResult) -> Bool {
            result.passthrough.map { $0.rounds >= PassthroughResult.fewestRounds } == true
        }
        guard let rounds = newest.passthrough?.rounds, !hasEnough(newest) else { return nil }
        let what =
            "passthrough has \(rounds) rounds and is not guarded: measure \(PassthroughResult.fewestRounds) by "
            + "`PAIRS=\(PassthroughResult.fewestRounds) benchmarks/run.sh passthrough`"
        return (what, results.contains { hasEnough($0.result) })
    }

    /// The presets that every whole result of R1 has.
    static let presets = ["oursFast", "oursFaster", "oursLow"]

    private static func has(_ part: String, _ result: BenchResult) -> Bool {
        switch part {
        case "r1": self.presets.allSatisfy { result.r1?.presets?[$0] != nil }
        case "quality": self.presets.allSatisfy { side in result.quality?.contains { $0.side == side } == true }
        case "allocations": result.allocations != nil
        case "live": result.live?.ingest != nil
        case "passthrough": result.passthrough != nil
        default: false
        }
    }

    /// The result with nothing else in it.
    static func only(_ part: String, of result: BenchResult) -> BenchResult {
        var single = result
        single.kernels = []
        if part != "r1" { single.r1 = nil }
        if part != "quality" { single.quality = nil }
        if part != "allocations" { single.allocations = nil }
        if part != "live" { single.live = nil }
        if part != "passthrough" { single.passthrough = nil }
        return single
    }
}
