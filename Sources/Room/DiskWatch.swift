import MediaTypes
import Packager
import PipelineSpec
import Recording
import Stages
import Synchronization

/// A room's ``DiskGuard``, and the thread that looks at its disk: one of its own, because a look at a disk that hangs hangs.
final class DiskWatch: Sendable {
    private struct State {
        var disk: DiskGuard
        /// Bytes of the last segments in all renditions, the newest last.
        var sizes: [Int64] = []
        var isStopped = false
    }

    /// Nanoseconds between two looks. What lies in the directories is counted as often, and where that takes long a hundred times
    /// more rarely; what the file systems have free is looked at each time.
    private static let pace: Int64 = 500_000_000

    private let places: [DiskUse.Place]
    private let clock: any SleepClock
    private let state: Mutex<State>
    private let wake: any ClockSemaphore

    init(_ pipeline: Pipeline, clock: any SleepClock) {
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
        self.clock = clock
        self.wake = clock.makeSemaphore()
        self.state = Mutex(State(disk: DiskGuard(limit: pipeline.limits.maxDiskBytes.map(Int64.init))))
    }

    /// For the state, the alarm and the event.
    struct Status {
        var level: DiskGuard.Level
        var reading: DiskGuard.Reading
        var stopped: [DiskGuard.Stopped]
        var message: String
    }

    var current: Status {
        self.state.withLock { state in
            Status(
                level: state.disk.level, reading: state.disk.last, stopped: state.disk.stopped,
                message: state.disk.message)
        }
    }

    /// See ``DiskGuard/isFullForClips``.
    var isFullForClips: Bool { self.state.withLock { $0.disk.isFullForClips } }

    /// See ``DiskGuard/isStalled``.
    var isStalled: Bool { self.state.withLock { $0.disk.isStalled } }

    /// - Parameters:
    ///   - recorded: What there is of the room's recording.
    ///   - takes: Directories of the recording beside its own.
    func start(
        recorded: @escaping @Sendable () -> Recorder.Kept, takes: @escaping @Sendable () -> [String],
        _ perform: @escaping @Sendable ([DiskGuard.Action]) -> Void
    ) {
        guard self.places.contains(where: { !$0.purpose.isEmpty }) else { return }
        _ = StageThread("disk") { [clock = self.clock] in
            var counted: DiskUse?
            var countsAt = clock.now()
            while !self.state.withLock(\.isStopped) {
                let began = clock.now()
                if counted == nil || began >= countsAt {
                    counted = DiskUse.measure(self.places + takes().map { DiskUse.Place($0, .recording) })
                    let ended = clock.now()
                    countsAt = ended &+ max(Self.pace, (ended &- began) &* 100)
                } else {
                    counted = counted?.refreshed()
                }
                if let use = counted {
                    let kept = recorded()
                    perform(
                        self.state.withLock { state in
                            let need = DiskGuard.Need(
                                window: Self.reserve(state.sizes), movies: kept.movieBytes, slots: kept.slots)
                            return state.disk.measured(use, need: need, at: clock.now())
                        })
                }
                self.wake.wait(for: Self.pace)
            }
        }
    }

    /// Does not wait for a look that hangs.
    func stop() {
        self.state.withLock { $0.isStopped = true }
        self.wake.signal()
    }

    func written(_ segment: PublishedSegment, at now: Int64) -> [DiskGuard.Action] {
        self.state.withLock { state in
            state.sizes.append(segment.bytes.values.reduce(0) { $0 &+ Int64($1) })
            if state.sizes.count > HLSPackager.fewestSegments { state.sizes.removeFirst() }
            return state.disk.written(at: now)
        }
    }

    /// Another recording begins.
    func recordingBegan() { self.state.withLock { $0.disk.recordingBegan() } }

    /// For whatever reason, or it could not go on.
    func recordingStopped(at now: Int64) { self.state.withLock { $0.disk.recordingStopped(at: now) } }

    func failed(_ error: MediaError, at now: Int64) -> [DiskGuard.Action] {
        let isFull = error.code == .diskFull
        // The disk has just answered: this does not hang.
        let place = isFull ? self.places.first { $0.purpose.contains(.live) } : nil
        let free = place.flatMap { DiskUse.volume(of: $0.path)?.free }
        return self.state.withLock { $0.disk.failed(isFull: isFull, reason: error.what, free: free, at: now) }
    }

    /// A limited window as large as the last segments were, and the three target durations its files stay longer.
    private static func reserve(_ sizes: [Int64]) -> Int64 {
        guard !sizes.isEmpty else { return 0 }
        let mean = sizes.reduce(0, &+) / Int64(sizes.count)
        return mean &* Int64(HLSPackager.fewestSegments + 4)
    }
}

extension Room {
    func startDiskWatch() {
        guard self.packager != nil, !self.isOffline else { return }
        let recorder = self.recorder
        self.disk.start(
            recorded: { recorder?.kept ?? Recorder.Kept() }, takes: { recorder?.directories ?? [] },
            { [weak self] in self?.perform($0) })
    }

    func perform(_ actions: [DiskGuard.Action]) {
        for action in actions {
            switch action {
            case .alarm(let level, let was, let reading):
                let status = self.disk.current
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
                if isLimited { self.clips.giveUpWaiting(ClipDesk.diskIsFull) }
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
        let status = self.disk.current
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
