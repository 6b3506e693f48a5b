/// Measures the fraction of R1's CPU time outside the codecs. While the program uses CPU time, `floor/where.c` records its program
/// counter every few milliseconds. The measurement needs no hardware counters, which most rented machines lack, and does not slow
/// the program down as valgrind does.
struct PlaceMeasurement {
    /// Path of `r1.sh`.
    let script: String
    /// Directory of R1's sources.
    let work: String
    /// Path of `where.so`.
    let library: String
    let rounds: Int

    private static let codecs = ["libav", "libswscale", "libswresample", "libx264", "libpostproc"]

    func measure() throws(BenchError) -> R1Places {
        var counts: [String: Int] = [:]
        let file = ChildProcess.path(self.work) + "/where.txt"
        for _ in 0..<self.rounds {
            let usage = try ChildProcess.run(
                [self.script, "ours", self.work],
                environment: [
                    "LD_PRELOAD": ChildProcess.path(self.library), "WHERE_PROGRAM": "tandem", "WHERE_FILE": file,
                ],
                output: "\(self.work)/where.out")
            guard usage.status == 0 else { throw BenchError("r1.sh ours failed with status \(usage.status)") }
            for line in try Files.text(at: file).split(separator: "\n") {
                let words = line.split(separator: " ", maxSplits: 1)
                guard words.count == 2, let count = Int(words[0]) else { continue }
                counts[String(words[1]), default: 0] += count
            }
        }
        let all = counts.values.reduce(0, +)
        guard all > 500 else { throw BenchError("only \(all) samples of R1: the profiling signal did not arrive") }
        let outside = counts.filter { entry in !Self.codecs.contains { entry.key.hasPrefix($0) } }.values.reduce(0, +)
        return R1Places(
            samples: all, parts: counts.mapValues { (Double($0) / Double(all)).rounded(digits: 5) },
            outsideLibav: (Double(outside) / Double(all)).rounded(digits: 4))
    }
}
