/// One dated result, as it lies in `benchmarks/results`.
struct BenchResult: Codable {
    /// UTC, ISO 8601.
    var date: String
    /// `git describe --always --dirty`.
    var commit: String
    var mode: String
    var machine: Machine
    /// What was run, so that anybody can run it again.
    var commands: [String]
    var kernels: [KernelResult]
    var r1: R1Result?
}

/// One kernel, counted and timed.
struct KernelResult: Codable {
    var name: String
    /// `byte`, `float`, or `unit` (NAL unit).
    var unit: String
    var unitsPerItem: Int
    /// Best of several batches, in 10⁹ units a second of CPU time. The machine's number: never guarded.
    var gigaUnitsPerSecond: Double
    /// Times the plain reference loop's throughput.
    var timesReference: Double
    /// By callgrind; the same on every run. Absent when valgrind is missing.
    var instructionsPerItem: Double?
    /// Calls of malloc, calloc and realloc, by callgrind.
    var allocationsPerItem: Double?
}

/// R1 by both sides, interleaved.
struct R1Result: Codable {
    /// `generated`, or that real clips were used; not where they lay.
    var clips: String
    var runs: [R1Run]
    /// Ours divided by FFmpeg's, pair by pair: `cpu`, `wall`, `peakMemory`, `bytes`; the same against FFmpeg on one
    /// thread with the suffix `VersusOneThread`.
    var ratios: [String: Spread]
    /// The largest of our runs, in MiB.
    var peakMemoryMiB: Double
}

/// One side of one pair.
struct R1Run: Codable {
    /// `ours`, `ffmpeg`, or `ffmpegOneThread`.
    var side: String
    var pair: Int
    var cpuSeconds: Double
    var wallSeconds: Double
    var peakMemoryMiB: Double
    /// Media bytes by rendition: 720p, 480p, 360p, audio.
    var bytes: [String: Int]
}
