/// One dated result in `benchmarks/results`. Every section is optional, since parts are measured separately.
struct BenchResult: Codable {
    /// UTC, ISO 8601.
    var date: String
    /// `git describe --always --dirty`.
    var commit: String
    /// `quick` or `full`.
    var mode: String
    var machine: Machine
    /// The commands that were run, so that the result can be reproduced.
    var commands: [String]
    var kernels: [KernelResult] = []
    var instructions: InstructionResult?
    var blocks: BlockResult?
    var r1: R1Result?
    var pairs: PairResult?
    var quality: [QualityResult]?
    var allocations: AllocationResult?
    var live: LiveResult?
    var passthrough: PassthroughResult?
    var growth: [GrowthSeries]?
    var search: SearchResult?
    /// Parts that could not be measured on this machine, each with the reason: `PART: REASON`.
    var skipped: [String]?
}

/// The instruction counts and times of one kernel.
struct KernelResult: Codable {
    var name: String
    /// `byte`, `float`, or `unit` (NAL unit, value, line: see the case).
    var unit: String
    var unitsPerItem: Int
    /// Best of several batches, in 10⁹ units per second of CPU time. It depends on the machine and has no threshold.
    var gigaUnitsPerSecond: Double
    /// Throughput relative to the plain reference loop; absent for state machines, which have no plain loop.
    var timesReference: Double?
    /// Instructions per item, counted by callgrind; the same in every run. Absent without valgrind.
    var instructionsPerItem: Double?
    /// Calls of malloc, calloc and realloc, counted by callgrind.
    var allocationsPerItem: Double?
    /// Bytes moved by copy functions of the C library, divided by the media bytes of one item; only for cases with media.
    var copiedPerByte: Double?
}

/// Results of R1 by all programs (sides), in interleaved runs.
struct R1Result: Codable {
    /// `generated`, or a note that real clips were used, without their path.
    var clips: String
    /// Load average over one minute before the first run.
    var loadBefore: Double
    /// Display names of the sides.
    var titles: [String: String]
    var runs: [R1Run]
    /// Tandem's figures divided by another side's of the same round: by side, then `cpu`, `wall`, `peakMemory`, `bytes`.
    var ratios: [String: [String: Spread]]
    /// Tandem with one of its presets divided by FFmpeg as users run it, by round: by side, then as in ``ratios``.
    var presets: [String: [String: Spread]]?
    /// Tandem on one core divided by FFmpeg on one core and by the floor, by round: as in ``ratios``.
    var oneCore: [String: [String: Spread]]?
    /// Tandem with `offline.threads` set to the number of cores, divided by the other sides, by round: as in ``ratios``.
    var threads: [String: [String: Spread]]?
    /// CPU seconds by stage, for `ours` and `floor`: medians, or means in results up to `8066d1e`. ``R1Measurement/stages(_:)``
    /// computes them from ``runs``.
    var stages: [String: [String: Double]]
    /// Peak memory of Tandem's largest run, in MiB.
    var peakMemoryMiB: Double
    var places: R1Places?

    /// A text about how the sides' work differs, printed with the ratios.
    var scalingNote: String {
        var text =
            "Tandem and the floor scale in a cascade (720p to 480p to 360p); the other programs scale each size from the canvas."
        if let floor = R1Measurement.stages(self.runs)["floor"], let cascade = floor["scale"],
            let direct = floor[StageTimes.direct],
            case let whole = StageTimes.codecs.reduce(0, { $0 + (floor[$1] ?? 0) }), whole > 0
        {
            text +=
                " The floor's scaling takes \(cascade.text(2)) s of CPU as a cascade and \(direct.text(2)) s from the canvas; "
                + "the difference is \(((direct - cascade) / whole * 100).text(1)) % of the floor's CPU time."
        }
        return text
    }
}

/// Where Tandem spends its CPU time in R1, sampled by a signal every few milliseconds of CPU time.
struct R1Places: Codable {
    var samples: Int
    /// Fraction of all samples by file (`libx264.so.164`, `tandem` …); samples in the C library count for its caller.
    var parts: [String: Double]
    /// The fraction outside libav*, libswscale, libswresample and libx264.
    var outsideLibav: Double
}

/// One run: one side in one round.
struct R1Run: Codable {
    /// ``R1Side/name``.
    var side: String
    var pair: Int
    var cpuSeconds: Double
    var wallSeconds: Double
    var peakMemoryMiB: Double?
    /// Media bytes by rendition: 720p, 480p, 360p, audio.
    var bytes: [String: Int]?
    /// CPU seconds by stage, if known.
    var stages: [String: Double]?
}

/// Quality of one rendition of one side, compared with the canvas for every frame, after upscaling to the canvas.
struct QualityResult: Codable {
    var side: String
    var rendition: String
    /// Model vmaf_v0.6.1neg: mean and worst frame.
    var vmafNeg: Double
    var vmafNegMin: Double
    var ssim: Double
    var pictures: Int
    var bytes: Int
}
