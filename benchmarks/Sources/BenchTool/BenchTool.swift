import FoundationEssentials

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// What `benchmarks/run.sh` calls.
@main
enum BenchTool {
    static let usage = """
        usage: BenchTool measure MODE RESULT.json   MODE quick, full, or kernels (without R1); writes the result
               BenchTool check RESULT.json          compares it with thresholds.json; status 1 on a regression
               BenchTool selfcheck                  plants a slowdown; status 1 unless the guard finds it
               BenchTool accept RESULT.json         makes the kernels' counts of that result the thresholds
        The working directory is benchmarks/. PAIRS=n sets how many interleaved pairs R1 runs.
        """

    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        do throws(BenchError) {
            switch (arguments.first, arguments.count) {
            case ("measure", 3): try self.measure(mode: arguments[1], to: arguments[2])
            case ("check", 2): try self.check(arguments[1])
            case ("selfcheck", 1): try self.selfCheck()
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

    private static let work = "work"
    private static let thresholdsPath = "thresholds.json"

    private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    private static func kernelMeasurement() -> KernelMeasurement {
        let hasValgrind = (try? ChildProcess.run(["valgrind", "--version"], output: "/dev/null"))?.status == 0
        if !hasValgrind {
            Terminal.say("SKIPPED: instructions and allocations per item are not counted: valgrind is not installed")
        }
        return KernelMeasurement(
            runner: ".build/release/KernelRunner", work: self.work, countsInstructions: hasValgrind)
    }

    private static func measure(mode: String, to path: String) throws(BenchError) {
        let isFull = mode == "full"
        let pairs = self.variable("PAIRS").flatMap { Int($0) } ?? (isFull ? 5 : 3)
        let machine = try Machine.current(scratch: "\(self.work)/line.txt")
        let commit = try ChildProcess.output(
            of: ["git", "describe", "--always", "--dirty"], scratch: "\(self.work)/line.txt")
        let kernels = try self.kernelMeasurement().measureAll()
        for kernel in kernels { Terminal.say("  " + self.line(kernel)) }
        let r1 =
            mode == "kernels"
            ? nil
            : try R1Measurement(
                script: "./r1.sh", work: "\(self.work)/r1", pairs: max(1, pairs), includesOneThread: isFull,
                clips: self.variable("R1_CLIPS") == nil ? "generated" : "real clips (R1_CLIPS)"
            ).measure()
        let result = BenchResult(
            date: Date().formatted(.iso8601), commit: String(commit.prefix { $0 != "\n" }), mode: mode,
            machine: machine,
            commands: [
                "benchmarks/run.sh \(mode)", "benchmarks/r1.sh sources DIR", "benchmarks/r1.sh ours DIR",
                "benchmarks/r1.sh ffmpeg DIR",
            ],
            kernels: kernels, r1: r1)
        try Files.write(result, to: path)
        for (name, spread) in (r1?.ratios ?? [:]).sorted(by: { $0.key < $1.key }) {
            let interval = spread.interval95.map { ", 95 %: \($0[0])…\($0[1])" } ?? ""
            Terminal.say("  ours/FFmpeg \(name): \(spread.median) (\(spread.min)…\(spread.max)\(interval))")
        }
        Terminal.say("Wrote benchmarks/\(path)")
    }

    private static func line(_ kernel: KernelResult) -> String {
        let counts = kernel.instructionsPerItem.map {
            ", \($0) instructions and \(kernel.allocationsPerItem ?? 0) allocations per item"
        }
        return "\(kernel.name): \(kernel.gigaUnitsPerSecond) G\(kernel.unit)/s,"
            + " \(kernel.timesReference) times the plain loop" + (counts ?? "")
    }

    private static func check(_ path: String) throws(BenchError) {
        let thresholds = try Files.read(Thresholds.self, from: self.thresholdsPath)
        if thresholds.kernels[Machine.architecture] == nil {
            Terminal.say("SKIPPED: thresholds.json has no instruction counts for \(Machine.architecture)")
        }
        let regressions = Guard(thresholds: thresholds).regressions(in: try Files.read(BenchResult.self, from: path))
        for regression in regressions { Terminal.say("REGRESSION: \(regression)") }
        if !regressions.isEmpty { exit(1) }
        Terminal.say("No regression.")
    }

    /// A guard that cannot fail guards nothing: the planted slowdown must be found, by the same code on a real count.
    private static func selfCheck() throws(BenchError) {
        let measurement = self.kernelMeasurement()
        let thresholds = try Files.read(Thresholds.self, from: self.thresholdsPath)
        guard measurement.countsInstructions, thresholds.kernels[Machine.architecture] != nil else {
            Terminal.say("SKIPPED: the planted slowdown needs valgrind and thresholds for this architecture")
            return
        }
        let planted = try measurement.count("annexb-walk", planted: true)
        let found = Guard(thresholds: thresholds).kernelRegressions(in: [planted])
        guard let first = found.first else {
            throw BenchError("the guard did not find the planted slowdown of annexb-walk")
        }
        Terminal.say("The guard finds a planted slowdown: \(first)")
    }

    private static func accept(_ path: String) throws(BenchError) {
        var thresholds = try Files.read(Thresholds.self, from: self.thresholdsPath)
        var kernels: [String: Thresholds.Kernel] = [:]
        for kernel in try Files.read(BenchResult.self, from: path).kernels {
            guard let instructions = kernel.instructionsPerItem, let allocations = kernel.allocationsPerItem else {
                throw BenchError("\(path) holds no counts: it was made without valgrind")
            }
            kernels[kernel.name] = Thresholds.Kernel(
                instructionsPerItem: instructions, allocationsPerItem: allocations)
        }
        thresholds.kernels[Machine.architecture] = kernels
        try Files.write(thresholds, to: self.thresholdsPath)
        Terminal.say("Wrote benchmarks/\(self.thresholdsPath)")
    }
}
