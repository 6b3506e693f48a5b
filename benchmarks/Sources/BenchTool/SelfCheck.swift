/// A guard that cannot fail guards nothing: regressions are planted, and each must be found by the same code.
enum SelfCheck {
    static func run() throws(BenchError) {
        let thresholds = try Files.read(Thresholds.self, from: BenchTool.thresholdsPath)
        try self.plantInResult(thresholds)
        let measurement = Measuring.kernels()
        guard measurement.countsInstructions, let known = thresholds.kernels[Machine.architecture] else {
            Terminal.say("SKIPPED: the planted slowdown needs valgrind and thresholds for this architecture")
            return
        }
        for name in ["annexb-walk", "ingest-path"] where known[name] != nil {
            let planted = try measurement.count(name, planted: true)
            guard let first = Guard(thresholds: thresholds).kernelRegressions(in: [planted]).first else {
                throw BenchError("the guard did not find the planted slowdown of \(name)")
            }
            Terminal.say("The guard finds a planted slowdown: \(first)")
        }
    }

    /// Ratios and latencies are of the machine and the moment; that a worse one is found needs no run.
    private static func plantInResult(_ thresholds: Thresholds) throws(BenchError) {
        let bad = Spread([9, 9, 9])
        var r1 = R1Result(
            clips: "", loadBefore: 0, titles: [:], runs: [], ratios: [:], stages: [:],
            peakMemoryMiB: thresholds.r1.peakMemoryMiB * 2)
        r1.places = R1Places(samples: 1000, parts: [:], outsideLibav: 0.9)
        let sides = thresholds.r1.cpuRatioMedian["full"] ?? [:]
        for side in sides.keys { r1.ratios[side] = ["cpu": bad] }
        let live = LiveResult(
            loadBefore: 0, startMs: [60_000], rooms: [], roomsInRealTime: 0,
            latency: LiveResult.Latency(
                sendToPart: BenchPercentiles([60_000]), encoderToPart: BenchPercentiles([60_000]), partMs: 533,
                jitterBufferMs: 200),
            ingest: LiveResult.Ingest(gigabytes: 1, cpuSecondsPerGigabyte: 60))
        let found = Guard(thresholds: thresholds).r1Regressions(in: r1, mode: "full")
        let late = Guard(thresholds: thresholds).liveRegressions(in: live)
        let wanted = sides.count + 1 + (thresholds.r1.outsideLibav == nil ? 0 : 1)
        guard found.count == wanted, late.count == (thresholds.live == nil ? 0 : 3) else {
            throw BenchError("the guard found \(found + late) of what was planted")
        }
        Terminal.say("The guard finds \(found.count + late.count) planted ratios and latencies.")
    }
}
