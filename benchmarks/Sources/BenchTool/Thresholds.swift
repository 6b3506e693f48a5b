/// What must hold on any machine: `benchmarks/thresholds.json`.
struct Thresholds: Codable {
    struct Kernel: Codable {
        var instructionsPerItem: Double
        var allocationsPerItem: Double
    }

    struct R1: Codable {
        /// Largest median of our CPU time over FFmpeg's, by mode. `quick` has room for the noise of a few runs on a
        /// shared machine; `full` is the bar.
        var cpuRatioMedian: [String: Double]
        /// Of our process.
        var peakMemoryMiB: Double
    }

    /// How much more instructions a kernel may take, as a part of one: a different compiler moves them a little.
    var kernelTolerance: Double
    /// By architecture, then by kernel.
    var kernels: [String: [String: Kernel]]
    var r1: R1
}
