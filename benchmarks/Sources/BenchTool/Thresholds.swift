/// What must hold on any machine: `benchmarks/thresholds.json`.
struct Thresholds: Codable {
    struct Kernel: Codable {
        var instructionsPerItem: Double
        var allocationsPerItem: Double
        /// Bytes moved for each byte of media, where it is counted.
        var copiedPerByte: Double?
    }

    struct R1: Codable {
        /// Largest median of our CPU time over another side's, by mode, then by side. `quick` has room for the noise of a few
        /// runs on a shared machine.
        var cpuRatioMedian: [String: [String: Double]]
        /// Of our process.
        var peakMemoryMiB: Double
        /// Largest part of R1's CPU time that is spent outside the codecs' libraries.
        var outsideLibav: Double?
    }

    struct Live: Codable {
        /// Median from a process's start to `room.ready`.
        var startMs: Double
        /// Longest p95 from a picture's arrival to its part, beyond the part and the jitter buffer.
        var sendToPartP95BeyondMs: Double
        /// CPU seconds of the network threads for each 10⁹ bytes.
        var ingestCPUPerGigabyte: Double
    }

    /// How much more instructions a kernel may take, as a part of one: a different compiler moves them a little.
    var kernelTolerance: Double
    /// By architecture, then by kernel.
    var kernels: [String: [String: Kernel]]
    var r1: R1
    var live: Live?
    /// Largest number of allocations a tick, by the stages of ``AllocationResult``.
    var allocationsPerTick: [String: Double]?
}
