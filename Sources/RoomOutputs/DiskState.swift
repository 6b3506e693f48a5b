import MediaTypes
import Packager
package import PipelineSpec
import Recording

/// What is known of the room's disk: its ``DiskGuard``, which directories it counts, and how large the last segments were.
package struct DiskState: Sendable {
    /// What the room's state, the alarm and the event show.
    package struct Status: Sendable {
        package var level: DiskGuard.Level
        package var reading: DiskGuard.Reading
        package var stopped: [DiskGuard.Stopped]
        package var message: String
    }

    let places: [DiskUse.Place]
    private var disk: DiskGuard
    /// Bytes of the last segments in all renditions, the newest last.
    private var sizes: [Int64] = []
    /// The thread that looks at the disk is to end.
    var isStopped = false

    init(_ pipeline: Pipeline) {
        var places = ([pipeline.hls?.path].compactMap { $0 } + pipeline.transports.map(\.path)).map {
            DiskUse.Place($0, .live)
        }
        if let record = pipeline.record { places.append(DiskUse.Place(record.path, .recording)) }
        for directory in pipeline.clipDirectories {
            var place = DiskUse.Place(directory, .clips)
            // What is held lies in directories of its own.
            place.isDeep = true
            places.append(place)
        }
        // Stills and sheets of stills may lie beside anything, and are few: where they do is nobody's disk to free.
        for image in pipeline.images {
            var place = DiskUse.Place(image.directory, [])
            place.prefix = String(image.fileName.dropLast(4))
            places.append(place)
        }
        self.places = places
        self.disk = DiskGuard(limit: pipeline.limits.maxDiskBytes.map(Int64.init))
    }

    /// What is known now.
    package var current: Status {
        Status(
            level: self.disk.level, reading: self.disk.last, stopped: self.disk.stopped, message: self.disk.message)
    }

    /// See ``DiskGuard/isFullForClips``.
    var isFullForClips: Bool { self.disk.isFullForClips }

    /// See ``DiskGuard/isStalled``.
    package var isStalled: Bool { self.disk.isStalled }

    /// - Parameter recorded: What there is of the room's recording.
    mutating func measured(_ use: DiskUse, recorded: Recorder.Kept, at now: Int64) -> [DiskGuard.Action] {
        let need = DiskGuard.Need(
            window: Self.reserve(self.sizes), movies: recorded.movieBytes, slots: recorded.slots)
        return self.disk.measured(use, need: need, at: now)
    }

    mutating func written(_ segment: PublishedSegment, at now: Int64) -> [DiskGuard.Action] {
        self.sizes.append(segment.bytes.values.reduce(0) { $0 &+ Int64($1) })
        if self.sizes.count > HLSPackager.fewestSegments { self.sizes.removeFirst() }
        return self.disk.written(at: now)
    }

    /// Another recording begins.
    package mutating func recordingBegan() { self.disk.recordingBegan() }

    /// The recording has stopped for whatever reason, or could not go on.
    mutating func recordingStopped(at now: Int64) { self.disk.recordingStopped(at: now) }

    /// - Parameter free: Bytes that the live output's file system has free, if it is full.
    mutating func failed(_ error: MediaError, free: Int64?, at now: Int64) -> [DiskGuard.Action] {
        self.disk.failed(isFull: error.code == .diskFull, reason: error.what, free: free, at: now)
    }

    /// A limited window as large as the last segments were, and the three target durations its files stay longer.
    private static func reserve(_ sizes: [Int64]) -> Int64 {
        guard !sizes.isEmpty else { return 0 }
        let mean = sizes.reduce(0, &+) / Int64(sizes.count)
        return mean &* Int64(HLSPackager.fewestSegments + 4)
    }
}
