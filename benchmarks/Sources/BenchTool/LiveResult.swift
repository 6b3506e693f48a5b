/// What rooms cost and how late they are on the room's own clock.
struct LiveResult: Codable {
    /// Load average of the minute before.
    var loadBefore: Double
    /// From the start of a process to `room.ready`, in milliseconds: one run each, in order.
    var startMs: [Double]
    /// The FFmpeg command line's run for one picture, from its start to its end, in milliseconds, by turns with these: what this
    /// machine takes to load the same libraries. `nil` in results of before it was measured.
    var ffmpegStartMs: [Double]?
    /// One entry for each number of rooms that was tried.
    var rooms: [Rooms]
    /// PK rooms side by side without a late frame, with R1's settings.
    var roomsInRealTime: Int
    /// As ``rooms`` and ``roomsInRealTime``, with the preset `tandem-faster`.
    var fastRooms: [Rooms]?
    var fastRoomsInRealTime: Int?
    /// R1 by the FFmpeg command line, one entry for each number of jobs that was tried at once.
    var ffmpegJobs: [Jobs]?
    var latency: Latency?
    var switches: Switches?
    var memory: Memory?
    var ingest: Ingest?

    /// So many PK rooms at once: two publishers of 720p30, three renditions each.
    struct Rooms: Codable {
        var rooms: Int
        var seconds: Double
        /// Ticks whose picture came late or was lost, over all rooms.
        var late: Int
        var lost: Int
        /// Steps the rooms took against overload: with one, a room does less than it was asked.
        var steps: Int?
        /// Cores the rooms kept busy, and their publishers apart.
        var roomCores: Double
        var publisherCores: Double
        /// Cores that others kept busy meanwhile.
        var othersCores: Double
        /// From the last picture's entry into the encoder to the part, in the worst room, in milliseconds.
        var partP99Ms: Double?

        var isInRealTime: Bool { self.late + self.lost + (self.steps ?? 0) == 0 }
    }

    /// So many jobs of R1, 20 s each, begun together and done as fast as they go.
    struct Jobs: Codable {
        var jobs: Int
        /// Until the last was done, and of all.
        var wallSeconds: Double
        var cpuSeconds: Double

        var isInRealTime: Bool { self.wallSeconds <= 20 }
    }

    /// One PK room with the low-latency preset, in milliseconds.
    struct Latency: Codable {
        /// From a picture's arrival at the socket to its part's publication, each picture of each rendition.
        var sendToPart: BenchPercentiles
        /// From a part's last picture's entry into the encoder to its publication.
        var encoderToPart: BenchPercentiles
        /// Duration of a part and the jitter buffer, which are in `sendToPart` by definition.
        var partMs: Double
        var jitterBufferMs: Double
        /// Cores that others kept busy meanwhile; above ``mostOthers`` the latency is theirs too and not guarded.
        var othersCores: Double

        static let mostOthers = 0.25
    }

    /// One PK room that changes between `solo` and `pk` all the time, against one that does not.
    struct Switches: Codable {
        var count: Int
        /// Longest time between two ticks that a change took, in milliseconds.
        var longestSwapMs: Double
        var late: Int
        var lost: Int
        /// Answers to `PUT /v1/program`, in milliseconds.
        var answerMs: BenchPercentiles
    }

    /// Resident memory of one PK room.
    struct Memory: Codable {
        /// Seconds since the program's start and MiB.
        var samples: [[Double]]
        /// Of the second half, by least squares, in MiB a minute.
        var slopePerMinute: Double

        /// Minutes; in less, what a room keeps for good looks like growth.
        static let shortest = 20.0
        var minutes: Double { (self.samples.last?.first ?? 0) / 60 }
    }

    /// One source that is not on air and publishes as fast as it is taken.
    struct Ingest: Codable {
        var gigabytes: Double
        /// CPU seconds of the network threads for each 10⁹ bytes.
        var cpuSecondsPerGigabyte: Double
    }
}

/// Values at three places of a distribution.
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

/// How our cost grows with one thing, everything else as in R1: offline, 5 s of program.
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
