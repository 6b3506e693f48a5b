/// A guard that cannot fail guards nothing: regressions are planted, and each must be found by the same code.
enum SelfCheck {
    static func run() throws(BenchError) {
        let thresholds = try Files.read(Thresholds.self, from: BenchTool.thresholdsPath)
        try self.plantInResult(thresholds)
        try self.checkArithmetic()
        try self.checkCommands()
        try self.checkTally()
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

    /// What the figures are made with, on values that are known: Student's t by the tables, a curve that needs a tenth more.
    private static func checkArithmetic() throws(BenchError) {
        let curve = [(1e6, 80.0), (2e6, 88.0), (3e6, 92.0), (4e6, 94.0)].map { (rate: $0.0, quality: $0.1) }
        let same = BDRate.percent(curve, over: curve)
        let dearer = BDRate.percent(curve.map { (rate: $0.rate * 1.1, quality: $0.quality) }, over: curve)
        // Logarithms -0.1, 0, 0.1: half the interval is 4.303 × 0.1 / √3 = 0.2484.
        let interval = Spread([0.904837, 1, 1.105171]).interval95
        guard let same, let dearer, abs(same) < 1e-9, abs(dearer - 10) < 1e-6, let interval,
            abs(interval[0] - 0.7800) < 2e-4, abs(interval[1] - 1.2820) < 2e-4
        else {
            throw BenchError("BD-rate or interval is computed wrong: \(same ?? 0), \(dearer ?? 0), \(interval ?? [])")
        }
    }

    /// A stream that is larger than the reference's counts for nothing, and its set is no best one.
    private static func checkTally() throws(BenchError) {
        func pair(_ clip: String, _ rendition: String, vmaf: Double, size: Double) -> SearchTally.Pair {
            SearchTally.Pair(clip: clip, rendition: rendition, cpu: 0.5, vmaf: vmaf, ssim: 0, size: size)
        }
        let set = EncoderSearch.Plan.Set(name: "set", preset: "veryfast", params: "")
        var tally = SearchTally()
        tally.pairs = [
            pair("a", "720p", vmaf: -1, size: 0.995), pair("a", "720p", vmaf: -2, size: 1.009),
            pair("b", "360p", vmaf: 3, size: 1),
        ]
        let fair = tally.point(set, renditions: ["720p", "360p"])
        tally.pairs.append(pair("b", "360p", vmaf: 90, size: 1.011))
        let unfair = tally.point(set, renditions: ["720p", "360p"])
        guard fair.vmafNeg == 0, fair.vmafNegWorst == -1.5, fair.renditions?["360p"]?.vmafNeg == 3, fair.refused == 0,
            unfair.vmafNeg == 0, unfair.renditions?["360p"]?.vmafNeg == 3, unfair.refused == 1,
            unfair.sizeWorst == 1.011, SearchTally.ranked([fair]).map(\.isBest) == [true],
            SearchTally.ranked([unfair]).map(\.isBest) == [false]
        else { throw BenchError("streams of unequal size are compared: \(fair), \(unfair)") }
    }

    /// A result says of every part how it was made, with all that was chosen, and nothing of where files lie.
    private static func checkCommands() throws(BenchError) {
        var result = BenchResult(
            date: "", commit: "", mode: "full",
            machine: Machine(
                processor: "", cores: 1, memoryMiB: 1, kernel: "", ffmpeg: "", swift: "", loadBefore: 0), commands: [])
        for part in PartCommands.parts + ["live"] {
            result.note(
                PartCommands.of(part, jobs: part == "passthrough" ? PassthroughMeasurement.commands : []) {
                    $0 == "PAIRS" || $0.hasPrefix("LIVE") ? "9" : "/home/me/\($0)"
                })
        }
        let text = result.commands.joined(separator: "\n")
        let missing = [
            "R1_CLIPS=DIR PAIRS=9 R1_MORE=", "R1_CLIPS=DIR LIVE_SECONDS=9 LIVE_MINUTES=9 FFMPEG=PROGRAM",
            "SEARCH_CLIPS=DIR",
            "PRESET=tandem-faster benchmarks/passthrough.sh room DIR",
            "PACED=20 benchmarks/passthrough.sh ffmpegPK DIR",
        ].filter { !text.contains($0) }
        let unnamed = PartCommands.parts.filter { !text.contains("BenchTool measure \($0) RESULT.json") }
        guard missing.isEmpty, unnamed.isEmpty, Set(result.commands).count == result.commands.count,
            !text.contains("FFMPEG=/home"), !text.contains("CLIPS=/home"),
            PartCommands.parts == Measuring.parts.sorted()
        else { throw BenchError("a result's commands leave out \(missing + unnamed), or tell paths: \(text)") }
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
                jitterBufferMs: 200, othersCores: 0),
            ingest: LiveResult.Ingest(gigabytes: 1, cpuSecondsPerGigabyte: 60))
        let found = Guard(thresholds: thresholds).r1Regressions(in: r1, mode: "full")
        let late = Guard(thresholds: thresholds).liveRegressions(in: live)
        let wanted = sides.count + 1 + (thresholds.r1.outsideLibav == nil ? 0 : 1)
        let stages = thresholds.allocationsPerTick ?? [:]
        let taken = Guard(thresholds: thresholds).allocationRegressions(
            in: AllocationResult(seconds: 1, perTick: stages.mapValues { $0 + 1 }, bytesPerTick: [:], places: []))
        guard taken.count == stages.count else { throw BenchError("the guard found \(taken) of planted allocations") }
        guard found.count == wanted, late.count == (thresholds.live == nil ? 0 : 3) else {
            throw BenchError("the guard found \(found + late) of what was planted")
        }
        Terminal.say("The guard finds \(found.count + late.count) planted ratios and latencies.")
    }
}
