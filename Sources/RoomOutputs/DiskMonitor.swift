package import MediaTypes
import Packager
import Recording
import Threading

/// Looks at the disks that a room writes to, and stops outputs as they fill; see ``DiskGuard``.
package struct DiskMonitor: OutputService {
    let host: any OutputsHost

    /// Nanoseconds between two looks at the disk. The directories are counted as often, but a hundred times more rarely than the
    /// counting takes; the free space of the file systems is read each time.
    private static let pace: Int64 = 500_000_000

    /// Starts the thread that looks at the disk: a thread of its own, since reading a disk that hangs blocks.
    package func start() {
        let places = self.host.withOutputs(\.disk.places)
        guard self.stages.packager != nil, !self.stages.isOffline, places.contains(where: { !$0.purpose.isEmpty })
        else { return }
        _ = StageThread("disk") { self.watch(places) }
    }

    private func watch(_ places: [DiskUse.Place]) {
        let clock = self.machine
        var counted: DiskUse?
        var countsAt = clock.now()
        while !self.host.withOutputs(\.disk.isStopped) {
            let began = clock.now()
            if counted == nil || began >= countsAt {
                // Directories of the recording beside its own.
                let takes = self.stages.recorder?.directories ?? []
                counted = DiskUse.measure(places + takes.map { DiskUse.Place($0, .recording) })
                let ended = clock.now()
                countsAt = ended &+ max(Self.pace, (ended &- began) &* 100)
            } else {
                counted = counted?.refreshed()
            }
            if let use = counted {
                let (recorded, now) = (self.stages.recorder?.kept ?? Recorder.Kept(), clock.now())
                self.perform(self.host.withOutputs { $0.disk.measured(use, recorded: recorded, at: now) })
            }
            self.stages.diskWake.wait(for: Self.pace)
        }
    }

    /// Ends the thread that looks at the disk. Does not wait for a look that hangs.
    package func stop() {
        self.host.withOutputs { $0.disk.isStopped = true }
        self.stages.diskWake.signal()
    }

    /// The live output could not be written.
    func failed(_ error: MediaError, at now: Int64) {
        // The disk has just answered: this does not hang.
        let place =
            error.code == .diskFull ? self.host.withOutputs(\.disk.places).first { $0.purpose.contains(.live) } : nil
        let free = place.flatMap { DiskUse.volume(of: $0.path)?.free }
        self.perform(self.host.withOutputs { $0.disk.failed(error, free: free, at: now) })
    }

    func perform(_ actions: [DiskGuard.Action]) {
        for action in actions {
            switch action {
            case .alarm(let level, let was, let reading):
                let status = self.host.withOutputs(\.disk.current)
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
                guard !self.stages.isOffline else { continue }
                // What is held for clips is what the window lets go.
                if isLimited { self.host.outputs.clips.giveUpWaiting(ClipJobs.diskIsFull) }
                self.stages.packager?.limitWindow(to: isLimited ? HLSPackager.fewestSegments : nil)
                self.events.emit(
                    "output.window", ["segments": isLimited ? JSONValue(HLSPackager.fewestSegments) : .null])
            case .stopRecording(let reading):
                guard !self.stages.isOffline else { continue }
                self.stages.recorder?.stop(
                    MediaError(
                        .diskFull,
                        "\(reading.place) has \(reading.free) bytes free, and the live playlists need them",
                        at: "recording",
                        fix: "free space, and it goes on; or raise limits.maxDiskBytes, and start the room again"))
            case .resumeRecording:
                guard !self.stages.isOffline else { continue }
                self.stages.recorder?.resume()
            }
        }
    }

    /// What the room's state shows of the disk; null before the first look.
    package var json: JSONValue {
        let status = self.host.withOutputs(\.disk.current)
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
