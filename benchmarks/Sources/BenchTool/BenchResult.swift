/// One dated result, as it lies in `benchmarks/results`. Every section may be missing: parts are measured one by one.
struct BenchResult: Codable {
    /// UTC, ISO 8601.
    var date: String
    /// `git describe --always --dirty`.
    var commit: String
    /// `quick` or `full`.
    var mode: String
    var machine: Machine
    /// What was run, so that anybody can run it again.
    var commands: [String]
    var kernels: [KernelResult] = []
    var r1: R1Result?
    var quality: [QualityResult]?
    var allocations: AllocationResult?
    var live: LiveResult?
    var passthrough: PassthroughResult?
    var growth: [GrowthSeries]?
    var search: SearchResult?
}

/// One kernel, counted and timed.
struct KernelResult: Codable {
    var name: String
    /// `byte`, `float`, or `unit` (NAL unit, value, line: see the case).
    var unit: String
    var unitsPerItem: Int
    /// Best of several batches, in 10⁹ units a second of CPU time. The machine's number: never guarded.
    var gigaUnitsPerSecond: Double
    /// Times the plain reference loop's throughput; absent for whole machines, which have no plain loop.
    var timesReference: Double?
    /// By callgrind; the same on every run. Absent when valgrind is missing.
    var instructionsPerItem: Double?
    /// Calls of malloc, calloc and realloc, by callgrind.
    var allocationsPerItem: Double?
    /// Bytes that copying functions of the C library moved, over the bytes of media of one item; for the cases that carry
    /// media.
    var copiedPerByte: Double?
}

/// R1 by all sides, interleaved.
struct R1Result: Codable {
    /// `generated`, or that real clips were used; not where they lay.
    var clips: String
    /// Load average of the minute before the first run.
    var loadBefore: Double
    /// What the sides are called for people.
    var titles: [String: String]
    var runs: [R1Run]
    /// Ours divided by another side's, round by round: by side, then `cpu`, `wall`, `peakMemory`, `bytes`.
    var ratios: [String: [String: Spread]]
    /// Tandem with one of its presets over FFmpeg as users run it, round by round: by side, then as in ``ratios``.
    var presets: [String: [String: Spread]]?
    /// Tandem on one core over FFmpeg on one core and over the floor, round by round: as in ``ratios``.
    var oneCore: [String: [String: Spread]]?
    /// CPU seconds by stage, for `ours` and `floor`: medians, or means in results up to `8066d1e`. ``R1Measurement/stages(_:)`` makes
    /// them of ``runs``.
    var stages: [String: [String: Double]]
    /// The largest of our runs, in MiB.
    var peakMemoryMiB: Double
    var places: R1Places?

    /// How the sides' work differs, for people: it stands wherever the ratios do.
    var scalingNote: String {
        var text =
            "Tandem and the floor scale in a cascade (720p to 480p to 360p), the peers scale each size from the canvas."
        if let floor = R1Measurement.stages(self.runs)["floor"], let cascade = floor["scale"],
            let direct = floor[StageTimes.direct],
            case let whole = StageTimes.codecs.reduce(0, { $0 + (floor[$1] ?? 0) }), whole > 0
        {
            text +=
                " By the floor's scalers that is \(cascade.text(2)) s instead of \(direct.text(2)) s of CPU, "
                + "\(((direct - cascade) / whole * 100).text(1)) % of the floor."
        }
        return text
    }
}

/// Where our CPU time of R1 is spent, by a signal every few milliseconds of it.
struct R1Places: Codable {
    var samples: Int
    /// Part of all samples by file (`libx264.so.164`, `tandem` …); the C library's count for whoever calls it.
    var parts: [String: Double]
    /// The part that lies outside libav*, libswscale, libswresample and libx264.
    var outsideLibav: Double
}

/// One side of one round.
struct R1Run: Codable {
    /// ``R1Side/name``.
    var side: String
    var pair: Int
    var cpuSeconds: Double
    var wallSeconds: Double
    var peakMemoryMiB: Double?
    /// Media bytes by rendition: 720p, 480p, 360p, audio.
    var bytes: [String: Int]?
    /// CPU seconds by stage, where they are known.
    var stages: [String: Double]?
}

/// One rendition of one side against the canvas, every picture judged, upscaled to the canvas.
struct QualityResult: Codable {
    var side: String
    var rendition: String
    /// Model vmaf_v0.6.1neg: mean and worst picture.
    var vmafNeg: Double
    var vmafNegMin: Double
    var ssim: Double
    var pictures: Int
    var bytes: Int
}
