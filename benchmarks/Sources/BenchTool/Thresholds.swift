/// The thresholds for all machines: `benchmarks/thresholds.json`.
struct Thresholds: Codable {
    struct Kernel: Codable {
        var instructionsPerItem: Double
        var allocationsPerItem: Double
        /// Bytes moved per byte of media, if counted.
        var copiedPerByte: Double?
    }

    struct R1: Codable {
        /// Maximum of the median of Tandem's CPU time divided by another side's, by mode, then by side. Only full
        /// runs have thresholds: quick runs measure pairs instead.
        var cpuRatioMedian: [String: [String: Double]]
        /// The same for Tandem's presets divided by FFmpeg as users run it, in full mode.
        var presetCPURatioMedian: [String: Double]
        /// Maximum of the median peak memory of Tandem's processes in MiB, by side.
        var peakMemoryMedianMiB: [String: Double]
        /// Maximum fraction of R1's CPU time outside the codec libraries.
        var outsideLibav: Double
        /// Allowed deviation from 1 of the media bytes divided by FFmpeg's.
        var sizeTolerance: Double
    }

    /// Maximum loss of quality in any rendition compared with FFmpeg with x264's veryfast at the same rates; negative.
    struct Quality: Codable {
        var vmafNeg: Double
        var ssim: Double
    }

    struct Live: Codable {
        /// Maximum time from a process's start to `room.ready` in the quickest run, which other load affects least.
        var startMs: Double
        /// Alternative limit on a slow machine: multiple of the time that FFmpeg takes for one frame there, both in the quickest
        /// run.
        var startOverFFmpeg: Double
        /// Maximum p95 of the time from a frame's arrival to its part, without the part's duration and the jitter buffer.
        var sendToPartP95BeyondMs: Double
        /// Maximum CPU time of the network threads per 10⁹ bytes, in seconds.
        var ingestCPUPerGigabyte: Double
        /// Maximum slope of resident memory, in measurements of at least ``LiveResult/Memory/shortest`` minutes.
        var memoryMiBPerMinute: Double
        /// Minimum number of PK rooms in real time on a machine with at least two cores.
        var rooms: Int
        /// The same with the preset `tandem-faster`, which only full runs measure.
        var fastRooms: Int
    }

    /// The instructions of one second of R1 with these versions of the counter, FFmpeg and the compiler.
    struct Instructions: Codable {
        /// As ``InstructionResult/versions``.
        var versions: [String: String]
        var total: Double
        /// Spread between the runs that were accepted, as ``InstructionResult/spread``.
        var spread: Double
        /// By file.
        var parts: [String: Double]
    }

    /// Paths of thresholds in this file, such as `live.startMs`, by the figures in the guide's table of aims (``PublishedAims``). A
    /// threshold may be less strict than its aim.
    var aims: [String: [String]]
    /// Figures of that table without a threshold, with the reason.
    var aimsWithoutThreshold: [String: String]
    /// Allowed increase in instructions of a kernel, as a fraction: another compiler changes them slightly.
    var kernelTolerance: Double
    /// By architecture, then by kernel.
    var kernels: [String: [String: Kernel]]
    /// One entry for each combination of versions.
    var instructions: [Instructions]
    /// Allowed increase of all instructions of R1, as a fraction.
    var instructionTolerance: Double
    /// The same for the instructions of each file.
    var instructionPartTolerance: Double
    /// Allowed increase of the live heap blocks from segment 20 to segment 60, as a fraction.
    var liveBlockGrowth: Double
    var r1: R1
    /// Maximum of the median of Tandem's CPU time divided by the other side's at the same moment, by mode, then by the rows of
    /// ``PairResult``.
    var pairCPURatioMedian: [String: [String: Double]]
    /// By side.
    var quality: [String: Quality]
    var live: Live
    /// Maximum number of allocations per tick, by the stages of ``AllocationResult``.
    var allocationsPerTick: [String: Double]
    /// Maximum of the median of Tandem's CPU time divided by FFmpeg's, by the jobs of ``PassthroughResult``.
    var passthroughCPURatioMedian: [String: Double]
}
