/// Compares a result with the thresholds.
struct Guard {
    let thresholds: Thresholds

    /// One message for each regression; empty if all thresholds are met.
    ///
    /// - Parameter parts: Names of the parts (``Measuring/parts``) that had to be measured. A part that was not measured, for
    ///   example because a tool is missing, is reported.
    func regressions(in result: BenchResult, parts: [String] = []) -> [String] {
        let measured = Set(result.kernels.map(\.name))
        let missing =
            measured.isEmpty
            ? [] : (self.thresholds.kernels[Machine.architecture] ?? [:]).keys.filter { !measured.contains($0) }
        return self.missing(in: result, parts: parts)
            + missing.sorted().map { "\($0) has a threshold but was not measured" }
            + self.kernelRegressions(in: result.kernels)
            + (result.instructions.map { self.instructionRegressions(in: $0) } ?? [])
            + (result.blocks.map { self.blockRegressions(in: $0) } ?? [])
            + (result.pairs.map { self.pairRegressions(in: $0, mode: result.mode) } ?? [])
            + (result.r1.map { self.r1Regressions(in: $0, mode: result.mode) } ?? [])
            + (result.quality.map { self.qualityRegressions(in: $0) } ?? [])
            + (result.allocations.map { self.allocationRegressions(in: $0) } ?? [])
            + (result.live.map { self.liveRegressions(in: $0, cores: result.machine.cores) } ?? [])
            + (result.passthrough.map { self.passthroughRegressions(in: $0) } ?? [])
    }

    /// Skips kernels without counts; ``missing(in:parts:)`` reports them.
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
                found.append("\(result.name): \(copied) bytes copied per byte of media, at most \(most)")
            }
            // Allocation counts have no noise: even one in twenty items counts.
            if allocations > limit.allocationsPerItem + 0.05 {
                found.append(
                    "\(result.name): \(allocations) allocations per item, at most \(limit.allocationsPerItem)")
            }
            return found
        }
    }

    func r1Regressions(in result: R1Result, mode: String) -> [String] {
        let limits = self.thresholds.r1
        var found: [String] = []
        for (side, limit) in (limits.cpuRatioMedian[mode] ?? [:]).sorted(by: { $0.key < $1.key }) {
            guard let cpu = result.ratios[side]?["cpu"], cpu.median > limit else { continue }
            found.append("R1: \(cpu.median) times the CPU time of \(side) (median), at most \(limit)")
        }
        for (side, limit) in limits.presetCPURatioMedian.sorted(by: { $0.key < $1.key }) {
            guard let cpu = result.presets?[side]?["cpu"], cpu.median > limit else { continue }
            found.append("R1: \(side) takes \(cpu.median) times FFmpeg's CPU time (median), at most \(limit)")
        }
        for (side, limit) in limits.peakMemoryMedianMiB.sorted(by: { $0.key < $1.key }) {
            let peaks = result.runs.filter { $0.side == side }.compactMap(\.peakMemoryMiB)
            guard !peaks.isEmpty, case let median = Spread(peaks).median, median > limit else { continue }
            found.append("R1: \(side) has a peak of \(median) MiB (median), at most \(limit)")
        }
        let sizes = (result.presets ?? [:]).merging(["ours": result.ratios["ffmpeg"] ?? [:]]) { own, _ in own }
        for (side, ratios) in sizes.sorted(by: { $0.key < $1.key }) {
            guard let bytes = ratios["bytes"], abs(bytes.median - 1) > limits.sizeTolerance else { continue }
            found.append(
                "R1: the media size of \(side) is \(bytes.median) times FFmpeg's; allowed deviation from 1: \(limits.sizeTolerance)"
            )
        }
        if let places = result.places {
            let part = places.outsideLibav
            // The value is a sample: allow three times the standard error.
            let chance = 3 * (part * (1 - part) / Double(max(1, places.samples))).squareRoot()
            if part - chance > limits.outsideLibav {
                found.append(
                    "R1: \(part) of the CPU time is spent outside the codec libraries, at most \(limits.outsideLibav)"
                )
            }
        }
        return found
    }

    /// Encoders produce the same output on every machine, so a loss against FFmpeg's veryfast is not noise.
    func qualityRegressions(in results: [QualityResult]) -> [String] {
        self.thresholds.quality.sorted { $0.key < $1.key }.flatMap { side, limit in
            results.filter { $0.side == side }.flatMap { own -> [String] in
                guard let peer = results.first(where: { $0.side == "ffmpeg" && $0.rendition == own.rendition }) else {
                    return []
                }
                let (vmaf, ssim) = (
                    (own.vmafNeg - peer.vmafNeg).rounded(digits: 2), (own.ssim - peer.ssim).rounded(digits: 4)
                )
                var found: [String] = []
                if vmaf < limit.vmafNeg {
                    found.append(
                        "\(side) \(own.rendition): VMAF-NEG \(vmaf) relative to FFmpeg's, at least \(limit.vmafNeg)")
                }
                if ssim < limit.ssim {
                    found.append("\(side) \(own.rendition): SSIM \(ssim) relative to FFmpeg's, at least \(limit.ssim)")
                }
                return found
            }
        }
    }

    func allocationRegressions(in result: AllocationResult) -> [String] {
        self.thresholds.allocationsPerTick.sorted { $0.key < $1.key }.compactMap { stage, most in
            guard let count = result.perTick[stage] else { return "\(stage): its allocations were not counted" }
            return count > most ? "\(stage): \(count) allocations per tick, at most \(most)" : nil
        }
    }

    func liveRegressions(in result: LiveResult, cores: Int) -> [String] {
        let limits = self.thresholds.live
        var found: [String] = []
        // If FFmpeg takes as long to load the libraries, then the machine is slow, not the room.
        let peer = (result.ffmpegStartMs?.min() ?? 0) * limits.startOverFFmpeg
        let mostStart = max(limits.startMs, peer.rounded(digits: 1))
        if let start = result.startMs.min(), start > mostStart {
            found.append("start: \(start) ms to room.ready in the quickest run, at most \(mostStart)")
        }
        if let latency = result.latency, latency.othersCores <= LiveResult.Latency.mostOthers,
            let p95 = latency.sendToPart.p95
        {
            let beyond = (p95 - latency.partMs - latency.jitterBufferMs).rounded(digits: 1)
            if beyond > limits.sendToPartP95BeyondMs {
                found.append(
                    "send to part: p95 \(beyond) ms in addition to part and jitter buffer, at most \(limits.sendToPartP95BeyondMs)"
                )
            }
        }
        if let ingest = result.ingest, ingest.cpuSecondsPerGigabyte > limits.ingestCPUPerGigabyte {
            found.append(
                "ingest: \(ingest.cpuSecondsPerGigabyte) CPU s per GB, at most \(limits.ingestCPUPerGigabyte)")
        }
        if let memory = result.memory, memory.minutes >= LiveResult.Memory.shortest,
            memory.slopePerMinute > limits.memoryMiBPerMinute
        {
            found.append(
                "memory: \(memory.slopePerMinute) MiB more per minute, at most \(limits.memoryMiBPerMinute)")
        }
        func areUndisturbed(_ rooms: [LiveResult.Rooms]) -> Bool {
            !rooms.isEmpty && rooms.allSatisfy { $0.othersCores <= LiveResult.Latency.mostOthers }
        }
        if cores >= 2, areUndisturbed(result.rooms), result.roomsInRealTime < limits.rooms {
            found.append("rooms: \(result.roomsInRealTime) PK rooms in real time, at least \(limits.rooms)")
        }
        if cores >= 2, let count = result.fastRoomsInRealTime, areUndisturbed(result.fastRooms ?? []),
            count < limits.fastRooms
        {
            found.append(
                "rooms: \(count) PK rooms with tandem-faster in real time, at least \(limits.fastRooms)")
        }
        return found
    }

    /// Skips a result with too few rounds; ``BenchTool`` reports it.
    func passthroughRegressions(in result: PassthroughResult) -> [String] {
        guard result.rounds >= PassthroughResult.fewestRounds else { return [] }
        return self.thresholds.passthroughCPURatioMedian.sorted { $0.key < $1.key }.compactMap { job, limit in
            guard let median = result.ratios[job]?.median else { return "passthrough: \(job) was not measured" }
            return median > limit
                ? "passthrough: \(job) takes \(median) times FFmpeg's CPU time (median), at most \(limit)" : nil
        }
    }
}
