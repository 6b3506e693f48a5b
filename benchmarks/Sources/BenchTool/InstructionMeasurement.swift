/// The number of instructions that a Tandem room executes for one second of R1, counted by callgrind. Unlike CPU time it depends
/// neither on other load nor on the processor's speed.
struct InstructionResult: Codable {
    /// What was counted and how, by name: the counter, FFmpeg's libraries, x264, the compiler, the C library. Counts are compared only
    /// if all of these are equal.
    var versions: [String: String]
    var runs: [Run]
    /// Median of the runs.
    var total: Double
    /// Largest total divided by the smallest, minus 1.
    var spread: Double
    /// Instructions by file, medians of the runs; files with less than one thousandth of all are left out.
    var parts: [String: Double]

    /// Counts are accepted as thresholds only if ``spread`` is not larger.
    static let largestSpread = 0.01

    struct Run: Codable {
        var total: Double
        /// By file (`libx264.so.164`, `tandem` …): instructions of the functions that the file contains.
        var parts: [String: Double]
    }

    init(versions: [String: String], runs: [Run]) {
        self.versions = versions
        self.runs = runs
        let totals = runs.map(\.total)
        self.total = Self.median(totals)
        self.spread = ((totals.max() ?? 0) / max(1, totals.min() ?? 0) - 1).rounded(digits: 5)
        var parts: [String: Double] = [:]
        for name in Set(runs.flatMap(\.parts.keys)) {
            let median = Self.median(runs.map { $0.parts[name] ?? 0 })
            if median > self.total / 1_000 { parts[name] = median }
        }
        self.parts = parts
    }

    private static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        guard !sorted.isEmpty else { return 0 }
        let middle = sorted.count / 2
        return (sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2).rounded()
    }
}

/// Runs `instructions.sh` and reads what it counted.
struct InstructionMeasurement {
    /// Path of `instructions.sh`.
    let script: String
    /// Directory for its files.
    let work: String
    let runs: Int
    /// Whether the script has already run, as `run.sh quick` does while it builds.
    let isCounted: Bool

    /// Exit status of the script if a tool is missing.
    private static let missing: Int32 = 75

    /// Counts the instructions; `nil` with the reason if a tool is missing.
    func measure() throws(BenchError) -> (result: InstructionResult?, reason: String) {
        if !self.isCounted {
            let usage = try ChildProcess.run([self.script, self.work, "\(self.runs)"])
            guard usage.status == 0 || usage.status == Self.missing else {
                throw BenchError("\(self.script) failed with status \(usage.status)")
            }
        }
        if let reason = try? Files.text(at: "\(self.work)/missing.txt") {
            return (nil, String(reason.prefix { $0 != "\n" }))
        }
        var versions: [String: String] = [:]
        for line in try Files.text(at: "\(self.work)/versions.txt").split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 1)
            if words.count == 2 { versions[String(words[0])] = String(words[1]) }
        }
        var runs: [InstructionResult.Run] = []
        for name in Files.names(in: self.work) where name.hasPrefix("run-") && name.hasSuffix(".txt") {
            runs.append(try Self.run(Files.text(at: "\(self.work)/\(name)"), name))
        }
        guard !runs.isEmpty else { throw BenchError("\(self.script) counted nothing in \(self.work)") }
        return (InstructionResult(versions: versions, runs: runs), "")
    }

    /// Reads lines of a count and a file; the file of the line with all of them is `total`.
    static func run(_ text: String, _ name: String) throws(BenchError) -> InstructionResult.Run {
        var run = InstructionResult.Run(total: 0, parts: [:])
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 1)
            guard words.count == 2, let count = Double(words[0]) else { throw BenchError("\(name): “\(line)”") }
            if words[1] == "total" { run.total = count } else { run.parts[String(words[1])] = count }
        }
        let sum = run.parts.values.reduce(0, +)
        guard run.total > 0, abs(sum / run.total - 1) < 0.001 else {
            throw BenchError("\(name): the files have \(sum) instructions, all together \(run.total)")
        }
        return run
    }
}
