/// Compares a result with the thresholds.
struct Guard {
    let thresholds: Thresholds

    /// One sentence for each regression; empty when all holds.
    func regressions(in result: BenchResult) -> [String] {
        let measured = Set(result.kernels.map(\.name))
        let missing = (self.thresholds.kernels[Machine.architecture] ?? [:]).keys.filter { !measured.contains($0) }
        return missing.sorted().map { "\($0) has a threshold but was not measured" }
            + self.kernelRegressions(in: result.kernels)
            + (result.r1.map { self.r1Regressions(in: $0, mode: result.mode) } ?? [])
    }

    /// - Parameter results: Kernels without counts (valgrind missing) are passed over; the caller says so.
    func kernelRegressions(in results: [KernelResult]) -> [String] {
        guard let known = self.thresholds.kernels[Machine.architecture] else { return [] }
        return results.flatMap { result -> [String] in
            guard let instructions = result.instructionsPerItem, let allocations = result.allocationsPerItem else {
                return []
            }
            guard let limit = known[result.name] else {
                return ["\(result.name) has no threshold: run `benchmarks/run.sh accept` and commit thresholds.json"]
            }
            var found: [String] = []
            let most = limit.instructionsPerItem * (1 + self.thresholds.kernelTolerance)
            if instructions > most {
                found.append(
                    "\(result.name): \(instructions) instructions per item, at most \(most.rounded(digits: 1))")
            }
            // Allocations are whole things: one in twenty items is not noise.
            if allocations > limit.allocationsPerItem + 0.05 {
                found.append(
                    "\(result.name): \(allocations) allocations per item, at most \(limit.allocationsPerItem)")
            }
            return found
        }
    }

    private func r1Regressions(in result: R1Result, mode: String) -> [String] {
        var found: [String] = []
        if let limit = self.thresholds.r1.cpuRatioMedian[mode], let cpu = result.ratios["cpu"], cpu.median > limit {
            found.append("R1: \(cpu.median) times FFmpeg's CPU time (median), at most \(limit)")
        }
        if result.peakMemoryMiB > self.thresholds.r1.peakMemoryMiB {
            found.append("R1: \(result.peakMemoryMiB) MiB at the peak, at most \(self.thresholds.r1.peakMemoryMiB)")
        }
        return found
    }
}
