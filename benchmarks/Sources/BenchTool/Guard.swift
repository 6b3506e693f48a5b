/// Compares a result with the thresholds.
struct Guard {
    let thresholds: Thresholds

    /// One sentence for each regression; empty when all holds.
    func regressions(in result: BenchResult) -> [String] {
        let measured = Set(result.kernels.map(\.name))
        let missing =
            measured.isEmpty
            ? [] : (self.thresholds.kernels[Machine.architecture] ?? [:]).keys.filter { !measured.contains($0) }
        return missing.sorted().map { "\($0) has a threshold but was not measured" }
            + self.kernelRegressions(in: result.kernels)
            + (result.r1.map { self.r1Regressions(in: $0, mode: result.mode) } ?? [])
            + (result.allocations.map { self.allocationRegressions(in: $0) } ?? [])
            + (result.live.map { self.liveRegressions(in: $0) } ?? [])
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
            if let most = limit.copiedPerByte, let copied = result.copiedPerByte, copied > most + 0.01 {
                found.append("\(result.name): \(copied) bytes copied for each byte of media, at most \(most)")
            }
            // Allocations are whole things: one in twenty items is not noise.
            if allocations > limit.allocationsPerItem + 0.05 {
                found.append(
                    "\(result.name): \(allocations) allocations per item, at most \(limit.allocationsPerItem)")
            }
            return found
        }
    }

    func r1Regressions(in result: R1Result, mode: String) -> [String] {
        var found: [String] = []
        for (side, limit) in (self.thresholds.r1.cpuRatioMedian[mode] ?? [:]).sorted(by: { $0.key < $1.key }) {
            guard let cpu = result.ratios[side]?["cpu"], cpu.median > limit else { continue }
            found.append("R1: \(cpu.median) times the CPU time of \(side) (median), at most \(limit)")
        }
        if result.peakMemoryMiB > self.thresholds.r1.peakMemoryMiB {
            found.append("R1: \(result.peakMemoryMiB) MiB at the peak, at most \(self.thresholds.r1.peakMemoryMiB)")
        }
        if let limit = self.thresholds.r1.outsideLibav, let places = result.places {
            let part = places.outsideLibav
            // Samples: what chance makes of so many of them, three times its deviation, is no finding.
            let chance = 3 * (part * (1 - part) / Double(max(1, places.samples))).squareRoot()
            if part - chance > limit {
                found.append("R1: \(part) of the CPU time is spent outside the codecs' libraries, at most \(limit)")
            }
        }
        return found
    }

    func allocationRegressions(in result: AllocationResult) -> [String] {
        (self.thresholds.allocationsPerTick ?? [:]).sorted { $0.key < $1.key }.compactMap { stage, most in
            guard let count = result.perTick[stage] else { return "\(stage): its allocations were not counted" }
            return count > most ? "\(stage): \(count) allocations a tick, at most \(most)" : nil
        }
    }

    func liveRegressions(in result: LiveResult) -> [String] {
        guard let limits = self.thresholds.live else { return [] }
        var found: [String] = []
        let start = BenchPercentiles(result.startMs).p50
        if start > limits.startMs {
            found.append("start: \(start) ms to room.ready (median), at most \(limits.startMs)")
        }
        if let latency = result.latency, latency.othersCores <= LiveResult.Latency.mostOthers,
            let p95 = latency.sendToPart.p95
        {
            let beyond = (p95 - latency.partMs - latency.jitterBufferMs).rounded(digits: 1)
            if beyond > limits.sendToPartP95BeyondMs {
                found.append(
                    "send to part: p95 \(beyond) ms beyond part and jitter buffer, at most \(limits.sendToPartP95BeyondMs)"
                )
            }
        }
        if let ingest = result.ingest, ingest.cpuSecondsPerGigabyte > limits.ingestCPUPerGigabyte {
            found.append(
                "ingest: \(ingest.cpuSecondsPerGigabyte) CPU s a GB, at most \(limits.ingestCPUPerGigabyte)")
        }
        return found
    }
}
