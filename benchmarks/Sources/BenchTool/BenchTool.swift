import FoundationEssentials

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The commands that `benchmarks/run.sh` calls.
@main
enum BenchTool {
    static let usage = """
        usage: BenchTool begin MODE RESULT.json     creates an empty result of this machine and commit; MODE is quick or full
               BenchTool measure PART RESULT.json   measures a part and adds it: kernels, instructions, blocks, r1, pairs, places,
                                                    quality, allocations, live, passthrough, growth or search
               BenchTool page RESULT.json PAGE.html writes the result as one self-contained page
               BenchTool readme README.md           updates the table in the README from the newest of results/*.json
               BenchTool readme-check README.md     exits with 1 if that table is not up to date
               BenchTool check RESULT.json [PART…]  compares the result with thresholds.json; exits with 1 on a regression, or if
                                                    one of the parts was not measured completely
               BenchTool check-results              compares the newest result of each part in results/ with thresholds.json, and the guides
                                                    with the newest; `check-results release` also exits with 1 if a result is
                                                    more than 20 source commits old
               BenchTool selfcheck                  introduces regressions; exits with 1 if the guard misses one
               BenchTool accept RESULT.json         writes the counts of that result as the new thresholds: those of the kernels, and
                                                    the instructions of R1 if they were counted at least three times
        The working directory is benchmarks/. COUNTS=n: runs whose instructions are counted; PAIRS=n: rounds of R1 and of pairs; R1_SIDES=ours,ffmpeg: only these sides; R1_MORE=1 adds the rounds
        to those of the result; LIVE_SECONDS=n: length of each live measurement; LIVE_MINUTES=n: of the memory measurement;
        SEARCH_CLIPS=DIR, SEARCH_MOST=n, SEARCH_SECONDS=n: clips of a search, their number and length.
        """

    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        do throws(BenchError) {
            mkdir(self.work, 0o755)
            switch (arguments.first, arguments.count) {
            case ("begin", 3): try self.begin(mode: arguments[1], arguments[2])
            case ("measure", 3): try Measuring(path: arguments[2]).measure(arguments[1])
            case ("page", 3):
                try Files.write(
                    text: ResultPage(Files.read(BenchResult.self, from: arguments[1])).html, to: arguments[2])
            case ("readme", 2): try ReadmeTable.renew(arguments[1])
            case ("readme-check", 2): try ReadmeTable.check(arguments[1])
            case ("check", 2...): try self.check(arguments[1], parts: Array(arguments.dropFirst(2)))
            case ("check-results", 1): try self.checkResults(isRelease: false)
            case ("check-results", 2) where arguments[1] == "release": try self.checkResults(isRelease: true)
            case ("selfcheck", 1): try SelfCheck.run()
            case ("accept", 2): try self.accept(arguments[1])
            default:
                Terminal.say(self.usage)
                exit(64)
            }
        } catch {
            Terminal.say("benchmarks: \(error)")
            exit(1)
        }
    }

    static let work = "work"
    /// `THRESHOLDS` names another file, as `plants.sh` does.
    static var thresholdsPath: String { Variables["THRESHOLDS"] ?? "thresholds.json" }

    private static func begin(mode: String, _ path: String) throws(BenchError) {
        let commit = try ChildProcess.output(
            of: ["git", "describe", "--always", "--dirty"], scratch: "\(self.work)/line.txt")
        let result = BenchResult(
            date: Date().formatted(.iso8601), commit: String(commit.prefix { $0 != "\n" }), mode: mode,
            machine: try Machine.current(scratch: "\(self.work)/line.txt"), commands: ["benchmarks/run.sh \(mode)"])
        try Files.write(result, to: path)
    }

    private static func check(_ path: String, parts: [String]) throws(BenchError) {
        if let unknown = parts.first(where: { !Measuring.parts.contains($0) }) {
            throw BenchError("unknown part \(unknown)")
        }
        let thresholds = try Files.read(Thresholds.self, from: self.thresholdsPath)
        if thresholds.kernels[Machine.architecture] == nil {
            Terminal.say("SKIPPED: thresholds.json has no instruction counts for \(Machine.architecture)")
        }
        let result = try Files.read(BenchResult.self, from: path)
        if let others = result.live?.latency?.othersCores, others > LiveResult.Latency.mostOthers {
            Terminal.say("SKIPPED: the latency is not checked: other processes used \(others) cores meanwhile")
        }
        if let memory = result.live?.memory, memory.minutes < LiveResult.Memory.shortest {
            Terminal.say("SKIPPED: the growth of memory is not checked: it needs LIVE_MINUTES=30")
        }
        self.sayFewRounds(result, of: path)
        let guardian = Guard(thresholds: thresholds)
        let skipped = (result.skipped ?? []) + [result.instructions.flatMap(guardian.incomparable)].compactMap { $0 }
        for line in skipped { Terminal.say("SKIPPED: \(line)") }
        if !skipped.isEmpty { Terminal.say("SKIPPED \(skipped.count) of the guard's measurements") }
        let regressions = guardian.regressions(in: result, parts: parts)
        for regression in regressions { Terminal.say("REGRESSION: \(regression)") }
        if !regressions.isEmpty { exit(1) }
        Terminal.say("No regression.")
    }

    private static func sayFewRounds(_ result: BenchResult, of path: String) {
        guard let rounds = result.passthrough?.rounds, rounds < PassthroughResult.fewestRounds else { return }
        Terminal.say(
            "SKIPPED: passthrough of \(path) is not checked: it has \(rounds) rounds and needs \(PassthroughResult.fewestRounds)"
        )
    }

    /// Checks that the newest committed result of each part meets CI's thresholds, that the guides quote it, and that each published
    /// aim has a threshold.
    private static func checkResults(isRelease: Bool) throws(BenchError) {
        let guardian = try Guard(thresholds: Files.read(Thresholds.self, from: self.thresholdsPath))
        let results = CommittedResults.all()
        var isBroken = false
        for part in CommittedResults.guarded(results) {
            guard let (name, result) = CommittedResults.newest(results, of: part) else {
                Terminal.say("REGRESSION: no committed result has the part \(part)")
                isBroken = true
                continue
            }
            if part == "passthrough", let short = CommittedResults.fewRounds(of: result, in: results) {
                Terminal.say("\(short.isFailure ? "REGRESSION" : "SKIPPED"): results/\(name): \(short.what)")
                if short.isFailure { isBroken = true }
            }
            for regression in guardian.regressions(in: CommittedResults.only(part, of: result)) {
                Terminal.say("REGRESSION: results/\(name): \(regression)")
                isBroken = true
            }
        }
        for line in CommittedResults.tooOld(results) {
            Terminal.say("\(isRelease ? "REGRESSION" : "NOTE"): \(line)")
            if isRelease { isBroken = true }
        }
        let thresholds = guardian.thresholds
        for mistake in try PublishedAims.mistakes(Files.text(at: PublishedAims.guide), thresholds: thresholds) {
            Terminal.say("REGRESSION: \(mistake)")
            isBroken = true
        }
        for (figure, reason) in thresholds.aimsWithoutThreshold.sorted(by: { $0.key < $1.key }) {
            Terminal.say("SKIPPED: the aim “\(figure)” has no threshold: \(reason)")
        }
        if let newest = CommittedResults.newest(results, of: "r1") {
            for mistake in try GuideFigures.mistakes(newest) {
                Terminal.say("REGRESSION: \(mistake), which is in results/\(newest.name)")
                isBroken = true
            }
        }
        if isBroken { exit(1) }
        Terminal.say("The committed results meet the thresholds, and the guides quote them.")
    }

    private static func accept(_ path: String) throws(BenchError) {
        var thresholds = try Files.read(Thresholds.self, from: self.thresholdsPath)
        let result = try Files.read(BenchResult.self, from: path)
        var accepted: [String] = []
        if !result.kernels.isEmpty {
            var kernels: [String: Thresholds.Kernel] = [:]
            for kernel in result.kernels {
                guard let instructions = kernel.instructionsPerItem, let allocations = kernel.allocationsPerItem else {
                    throw BenchError("\(path) contains no counts: it was measured without valgrind")
                }
                kernels[kernel.name] = Thresholds.Kernel(
                    instructionsPerItem: instructions, allocationsPerItem: allocations,
                    copiedPerByte: kernel.copiedPerByte)
            }
            thresholds.kernels[Machine.architecture] = kernels
            accepted.append("\(kernels.count) hot loops")
        }
        if let counts = result.instructions, counts.runs.count >= 3 {
            guard counts.spread <= InstructionResult.largestSpread else {
                throw BenchError(
                    "the instructions of the runs differ by \(counts.spread), more than \(InstructionResult.largestSpread): count again"
                )
            }
            thresholds.instructions.removeAll { $0.versions == counts.versions }
            thresholds.instructions.append(
                Thresholds.Instructions(
                    versions: counts.versions, total: counts.total, spread: counts.spread, parts: counts.parts))
            accepted.append("the instructions of R1")
        }
        guard !accepted.isEmpty else {
            throw BenchError(
                "\(path) has neither counts of hot loops nor three runs of R1's instructions: run `benchmarks/run.sh kernels` or `benchmarks/run.sh instructions` first"
            )
        }
        try Files.write(thresholds, to: self.thresholdsPath)
        Terminal.say("Wrote \(accepted.joined(separator: " and ")) to \(self.thresholdsPath)")
    }
}
