/// Cost and latency of live rooms.
struct LiveResult: Codable {
    /// Load average over one minute before the measurement.
    var loadBefore: Double
    /// Time from the start of a process to `room.ready` in milliseconds, one value per run.
    var startMs: [Double]
    /// Duration of an FFmpeg command that outputs one frame, in milliseconds, in turns with the starts above. It shows how long
    /// this machine takes to load the same libraries. `nil` in older results.
    var ffmpegStartMs: [Double]?
    /// One entry for each number of rooms that was tried.
    var rooms: [Rooms]
    /// Number of concurrent PK rooms without a late frame, with R1's settings.
    var roomsInRealTime: Int
    /// As ``rooms`` and ``roomsInRealTime``, with the preset `tandem-faster`.
    var fastRooms: [Rooms]?
    var fastRoomsInRealTime: Int?
    /// R1 with the FFmpeg command line, one entry for each number of concurrent jobs.
    var ffmpegJobs: [Jobs]?
    var latency: Latency?
    var switches: Switches?
    var memory: Memory?
    var ingest: Ingest?

    /// A number of concurrent PK rooms, each with two 720p30 publishers and three renditions.
    struct Rooms: Codable {
        var rooms: Int
        var seconds: Double
        /// Ticks with a late or lost frame, in all rooms.
        var late: Int
        var lost: Int
        /// Overload steps of the rooms; each means that a room reduced its work.
        var steps: Int?
        /// Average number of cores used by the rooms, and by their publishers.
        var roomCores: Double
        var publisherCores: Double
        /// Average number of cores used by other processes meanwhile.
        var othersCores: Double
        /// Time from a part's last frame entering the encoder to the part, in the worst room, in milliseconds.
        var partP99Ms: Double?

        var isInRealTime: Bool { self.late + self.lost + (self.steps ?? 0) == 0 }
    }

    /// A number of R1 jobs of 20 s each, started together and run at full speed.
    struct Jobs: Codable {
        var jobs: Int
        /// Time until the last job ended, and CPU time of all.
        var wallSeconds: Double
        var cpuSeconds: Double

        var isInRealTime: Bool { self.wallSeconds <= 20 }
    }

    /// One PK room with the low-latency preset, in milliseconds.
    struct Latency: Codable {
        /// Time from a frame's arrival at the socket to its part's publication, for each frame of each rendition.
        var sendToPart: BenchPercentiles
        /// Time from a part's last frame entering the encoder to the part's publication.
        var encoderToPart: BenchPercentiles
        /// Duration of a part plus the jitter buffer, which `sendToPart` always includes.
        var partMs: Double
        var jitterBufferMs: Double
        /// Average number of cores used by other processes meanwhile; above ``mostOthers`` they affect the latency, and its
        /// threshold does not apply.
        var othersCores: Double

        static let mostOthers = 0.25
    }

    /// A PK room that switches between `solo` and `pk` all the time, compared with one that does not.
    struct Switches: Codable {
        var count: Int
        /// Longest scene change between two ticks, in milliseconds.
        var longestSwapMs: Double
        var late: Int
        var lost: Int
        /// Response times of `PUT /v1/program`, in milliseconds.
        var answerMs: BenchPercentiles
    }

    /// Resident memory of one PK room.
    struct Memory: Codable {
        /// Seconds since the program's start, and memory in MiB.
        var samples: [[Double]]
        /// Slope of the second half by least squares, in MiB per minute.
        var slopePerMinute: Double

        /// In minutes. In shorter measurements, memory that a room keeps permanently looks like growth.
        static let shortest = 20.0
        var minutes: Double { (self.samples.last?.first ?? 0) / 60 }
    }

    /// One source that is not on air and publishes as fast as the room reads.
    struct Ingest: Codable {
        var gigabytes: Double
        /// CPU seconds of the network threads for each 10⁹ bytes.
        var cpuSecondsPerGigabyte: Double
    }
}

/// Percentiles of a distribution.
struct BenchPercentiles: Codable {
    var p50: Double
    var p95: Double?
    var p99: Double?

    init(p50: Double, p95: Double?, p99: Double?) {
        self.p50 = p50
        self.p95 = p95
        self.p99 = p99
    }

    /// - Parameter values: At least one.
    init(_ values: [Double]) {
        let sorted = values.sorted()
        func at(_ part: Double) -> Double {
            sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))].rounded(digits: 2)
        }
        self.init(p50: at(0.5), p95: at(0.95), p99: at(0.99))
    }
}

/// CPU time as a function of one parameter, with everything else as in R1: offline, 5 s of program time.
struct GrowthSeries: Codable {
    /// `sources`, `renditions`, `canvas`, `fps`, `bitrate`.
    var name: String
    var points: [Point]

    struct Point: Codable {
        var label: String
        var cpuPerSecond: Double
        var peakMemoryMiB: Double
    }
}
