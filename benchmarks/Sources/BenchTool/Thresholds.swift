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
        /// The same of Tandem's presets over FFmpeg as users run it, in full mode.
        var presetCPURatioMedian: [String: Double]
        /// Of our processes' peaks, by side: the median of the rounds, in MiB.
        var peakMemoryMedianMiB: [String: Double]
        /// Largest part of R1's CPU time that is spent outside the codecs' libraries.
        var outsideLibav: Double
        /// Media bytes over FFmpeg's may differ from one by this.
        var sizeTolerance: Double
    }

    /// The most that a side may lose against FFmpeg with x264's veryfast at the same rates, in any rendition: below zero.
    struct Quality: Codable {
        var vmafNeg: Double
        var ssim: Double
    }

    struct Live: Codable {
        /// From a process's start to `room.ready`, the quickest of the runs: what others do on a machine only adds to it.
        var startMs: Double
        /// On a machine that is slower than that, so many times what FFmpeg takes for one picture there, each the quickest.
        var startOverFFmpeg: Double
        /// Longest p95 from a picture's arrival to its part, beyond the part and the jitter buffer.
        var sendToPartP95BeyondMs: Double
        /// CPU seconds of the network threads for each 10⁹ bytes.
        var ingestCPUPerGigabyte: Double
        /// Largest slope of resident memory, from measurements of at least ``LiveResult/Memory/shortest`` minutes.
        var memoryMiBPerMinute: Double
        /// Fewest PK rooms in real time on a machine of two cores or more.
        var rooms: Int
    }

    /// How much more instructions a kernel may take, as a part of one: a different compiler moves them a little.
    var kernelTolerance: Double
    /// By architecture, then by kernel.
    var kernels: [String: [String: Kernel]]
    var r1: R1
    /// By side.
    var quality: [String: Quality]
    var live: Live
    /// Largest number of allocations a tick, by the stages of ``AllocationResult``.
    var allocationsPerTick: [String: Double]
    /// Largest median of our CPU time over FFmpeg's, by the jobs of ``PassthroughResult``.
    var passthroughCPURatioMedian: [String: Double]
}
