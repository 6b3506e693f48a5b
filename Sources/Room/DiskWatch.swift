import MediaTypes
import Packager
import PipelineSpec
import Recording
import Stages

/// What is known of the room's disk: its ``DiskGuard``, which directories it counts, and how large the last segments were.
struct DiskWatch: Sendable {
    /// For the state, the alarm and the event.
    struct Status {
        var level: DiskGuard.Level
        var reading: DiskGuard.Reading
        var stopped: [DiskGuard.Stopped]
        var message: String
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
        for directory in Room.clipDirectories(pipeline) {
            var place = DiskUse.Place(directory, .clips)
            // What is held lies in directories of its own.
            place.isDeep = true
            places.append(place)
        }
        // Stills and sheets of stills may lie beside anything, and are few: where they do is nobody's disk to free.
        for image in pipeline.images {
            let parts = image.path.split(separator: "/", omittingEmptySubsequences: false)
            let directory = parts.dropLast().joined(separator: "/")
            var place = DiskUse.Place(parts.count < 2 ? "." : directory + "/", [])
            place.prefix = String((parts.last ?? "").dropLast(4))
            places.append(place)
        }
        self.places = places
        self.disk = DiskGuard(limit: pipeline.limits.maxDiskBytes.map(Int64.init))
    }

    var current: Status {
        Status(
            level: self.disk.level, reading: self.disk.last, stopped: self.disk.stopped, message: self.disk.message)
    }

    /// See ``DiskGuard/isFullForClips``.
    var isFullForClips: Bool { self.disk.isFullForClips }

    /// See ``DiskGuard/isStalled``.
    var isStalled: Bool { self.disk.isStalled }

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
    mutating func recordingBegan() { self.disk.recordingBegan() }

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

extension Room {
    /// Nanoseconds between two looks at the disk. The directories are counted as often, but a hundred times more rarely than the
    /// counting takes; the free space of the file systems is read each time.
    private static let diskPace: Int64 = 500_000_000

    /// Starts the thread that looks at the disk: a thread of its own, since reading a disk that hangs blocks.
    func startDiskWatch() {
        let places = self.value.withLock(\.disk.places)
        guard self.packager != nil, !self.isOffline, places.contains(where: { !$0.purpose.isEmpty }) else { return }
        _ = StageThread("disk") { self.watchDisk(places) }
    }

    private func watchDisk(_ places: [DiskUse.Place]) {
        let clock = self.machine
        var counted: DiskUse?
        var countsAt = clock.now()
        while !self.value.withLock(\.disk.isStopped) {
            let began = clock.now()
            if counted == nil || began >= countsAt {
                // Directories of the recording beside its own.
                let takes = self.recorder?.directories ?? []
                counted = DiskUse.measure(places + takes.map { DiskUse.Place($0, .recording) })
                let ended = clock.now()
                countsAt = ended &+ max(Self.diskPace, (ended &- began) &* 100)
            } else {
                counted = counted?.refreshed()
            }
            if let use = counted {
                let (recorded, now) = (self.recorder?.kept ?? Recorder.Kept(), clock.now())
                self.perform(self.value.withLock { $0.disk.measured(use, recorded: recorded, at: now) })
            }
            self.diskWake.wait(for: Self.diskPace)
        }
    }

    /// Ends the thread that looks at the disk. Does not wait for a look that hangs.
    func stopDiskWatch() {
        self.value.withLock { $0.disk.isStopped = true }
        self.diskWake.signal()
    }

    /// The live output could not be written.
    func diskFailed(_ error: MediaError, at now: Int64) {
        // The disk has just answered: this does not hang.
        let place =
            error.code == .diskFull ? self.value.withLock(\.disk.places).first { $0.purpose.contains(.live) } : nil
        let free = place.flatMap { DiskUse.volume(of: $0.path)?.free }
        self.perform(self.value.withLock { $0.disk.failed(error, free: free, at: now) })
    }

    func perform(_ actions: [DiskGuard.Action]) {
        for action in actions {
            switch action {
            case .alarm(let level, let was, let reading):
                let status = self.value.withLock(\.disk.current)
                self.logger.warning(
                    "the disk's alarm level changes",
                    metadata: ["level": "\(level.name)", "disk": "\(status.message)"])
                self.events.emit(
                    "output.disk_low",
                    [
                        "level": .string(level.name), "was": .string(was.name),
                        "state": level == .normal ? "cleared" : "set", "percent": JSONValue(reading.percent),
                        "threshold": JSONValue(max(level, was).threshold), "usedBytes": .integer(reading.used),
                        "maxBytes": .integer(reading.capacity), "path": JSONValue(reading.path),
                        "freeBytes": .integer(reading.free),
                        "stopped": .array(status.stopped.map { .string($0.rawValue) }),
                        "reason": .string(status.message),
                    ])
            case .stalled(let isSet, let reason):
                self.events.emit(
                    "output.stalled",
                    [
                        "level": isSet ? "alert_2" : "normal", "state": isSet ? "set" : "cleared",
                        "reason": .string(reason),
                    ])
            case .limitWindow(let isLimited):
                guard !self.isOffline else { continue }
                // What is held for clips is what the window lets go.
                if isLimited { self.giveUpWaitingClips(ClipJobs.diskIsFull) }
                self.packager?.limitWindow(to: isLimited ? HLSPackager.fewestSegments : nil)
                self.events.emit(
                    "output.window", ["segments": isLimited ? JSONValue(HLSPackager.fewestSegments) : .null])
            case .stopRecording(let reading):
                guard !self.isOffline else { continue }
                self.recorder?.stop(
                    MediaError(
                        .diskFull,
                        "\(reading.place) has \(reading.free) bytes free, and the live playlists need them",
                        at: "recording",
                        fix: "free space, and it goes on; or raise limits.maxDiskBytes, and start the room again"))
            case .resumeRecording:
                guard !self.isOffline else { continue }
                self.recorder?.resume()
            }
        }
    }

    /// As the state shows it.
    var diskJSON: JSONValue {
        let status = self.value.withLock(\.disk.current)
        let reading = status.reading
        guard reading.capacity > 0 else { return .null }
        return [
            "level": .string(status.level.name), "percent": JSONValue(reading.percent),
            "usedBytes": .integer(reading.used), "maxBytes": .integer(reading.capacity),
            "path": JSONValue(reading.path), "freeBytes": .integer(reading.free),
            "stopped": .array(status.stopped.map { .string($0.rawValue) }), "message": .string(status.message),
        ]
    }
}
