/// The dated results in `results`, which the README and the guides quote.
enum CommittedResults {
    /// Parts whose newest committed result must meet the thresholds. The kernels are counted again in every run.
    private static let guarded = ["r1", "quality", "allocations", "live", "passthrough"]

    /// ``guarded``, and the pairs as soon as a result has them.
    static func guarded(_ results: [(name: String, result: BenchResult)]) -> [String] {
        self.guarded + (self.newest(results, of: "pairs") == nil ? [] : ["pairs"])
    }

    /// All readable results, by file name; results in older formats are skipped.
    static func all() -> [(name: String, result: BenchResult)] {
        Files.names(in: "results").filter { $0.hasSuffix(".json") }.sorted().compactMap { name in
            (try? Files.read(BenchResult.self, from: "results/\(name)")).map { (name, $0) }
        }
    }

    /// The newest result, by its date, that has the complete part; for R1, with all presets.
    static func newest(
        _ results: [(name: String, result: BenchResult)], of part: String
    ) -> (name: String, result: BenchResult)? {
        results.filter { self.has(part, $0.result) }.max { $0.result.date < $1.result.date }
    }

    /// The newest result of R1 with this side, or the newest one with this side's quality if none was timed.
    static func newest(
        _ results: [(name: String, result: BenchResult)], withSide side: String
    ) -> (name: String, result: BenchResult)? {
        let timed = results.filter { $0.result.r1?.runs.contains { $0.side == side } == true }
        let judged = results.filter { $0.result.quality?.contains { $0.side == side } == true }
        return (timed.isEmpty ? judged : timed).max { $0.result.date < $1.result.date }
    }

    /// The newest result with this side's quality.
    static func newest(
        _ results: [(name: String, result: BenchResult)], judging side: String
    ) -> (name: String, result: BenchResult)? {
        results.filter { $0.result.quality?.contains { $0.side == side } == true }.max {
            $0.result.date < $1.result.date
        }
    }

    /// A message if the newest passthrough result has too few rounds for its thresholds; nil if it has enough.
    ///
    /// It counts as a failure if any committed result has enough rounds.
    static func fewRounds(
        of newest: BenchResult, in results: [(name: String, result: BenchResult)]
    ) -> (what: String, isFailure: Bool)? {
        func hasEnough(_ result: BenchResult) -> Bool {
            result.passthrough.map { $0.rounds >= PassthroughResult.fewestRounds } == true
        }
        guard let rounds = newest.passthrough?.rounds, !hasEnough(newest) else { return nil }
        let what =
            "passthrough has \(rounds) rounds and is not checked: measure \(PassthroughResult.fewestRounds) by "
            + "`PAIRS=\(PassthroughResult.fewestRounds) benchmarks/run.sh passthrough`"
        return (what, results.contains { hasEnough($0.result) })
    }

    /// Largest number of commits that changed `Sources` since a result's commit, at a release.
    static let mostSourceCommits = 20

    /// A message for each committed result that a guarded part uses and that is too old for a release.
    static func tooOld(_ results: [(name: String, result: BenchResult)]) -> [String] {
        var parts: [String: [String]] = [:]
        for part in self.guarded(results) {
            if let name = self.newest(results, of: part)?.name { parts[name, default: []].append(part) }
        }
        return parts.sorted { $0.key < $1.key }.compactMap { name, parts in
            guard let commit = results.first(where: { $0.name == name })?.result.commit else { return nil }
            let age = self.sourceCommits(since: commit)
            if let age, age <= self.mostSourceCommits { return nil }
            let text = age.map { "is \($0) source commits old" } ?? "is from the unknown commit \(commit)"
            return
                "results/\(name) (\(parts.joined(separator: ", "))) \(text); a release needs at most \(self.mostSourceCommits)"
        }
    }

    /// Number of commits since then that changed the program; `nil` if the commit is not in this clone.
    private static func sourceCommits(since commit: String) -> Int? {
        let hash = commit.prefix { $0 != "-" }
        let text = try? ChildProcess.output(
            of: ["git", "rev-list", "--count", "\(hash)..HEAD", "--", "../Sources"],
            scratch: "\(BenchTool.work)/line.txt")
        return text.flatMap { Int($0.filter(\.isNumber)) }
    }

    /// The presets that every complete result of R1 has.
    static let presets = ["oursFast", "oursFaster", "oursLow"]

    private static func has(_ part: String, _ result: BenchResult) -> Bool {
        switch part {
        case "r1": self.presets.allSatisfy { result.r1?.presets?[$0] != nil }
        case "quality": self.presets.allSatisfy { side in result.quality?.contains { $0.side == side } == true }
        case "allocations": result.allocations != nil
        case "live": result.live?.ingest != nil
        case "passthrough": result.passthrough != nil
        case "pairs": result.pairs != nil
        default: false
        }
    }

    /// A copy of the result with only this part.
    static func only(_ part: String, of result: BenchResult) -> BenchResult {
        var single = result
        single.kernels = []
        single.instructions = nil
        single.blocks = nil
        if part != "pairs" { single.pairs = nil }
        if part != "r1" { single.r1 = nil }
        if part != "quality" { single.quality = nil }
        if part != "allocations" { single.allocations = nil }
        if part != "live" { single.live = nil }
        if part != "passthrough" { single.passthrough = nil }
        return single
    }
}
