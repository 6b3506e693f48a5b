import MediaTypes
import Packager
package import PipelineSpec
import Recording
import Threading

/// Measures the disks to which a room writes, and stops outputs as the disks fill; see ``DiskGuard``.
package struct DiskMonitor: OutputService {
    let host: any OutputsHost

    /// Time between two measurements of the free space, in nanoseconds. The room's files are counted again only after
    /// 100 times the duration of the last count, if that is longer.
    private static let pace: Int64 = 500_000_000

    /// Starts the thread that measures the disk, unless it was started before. Does nothing for an offline job, and
    /// without an HLS output and recordings of sources. Reads block if the disk hangs, so they need their own thread.
    package func start() {
        let places = self.host.withOutputs(\.disk.places)
        guard !self.stages.isOffline, places.contains(where: { !$0.purpose.isEmpty }),
            self.stages.packager != nil || places.contains(where: { $0.purpose.contains(.recording) })
        else { return }
        let starts = self.host.withOutputs { outputs in
            defer { outputs.disk.isStarted = true }
            return !outputs.disk.isStarted && !outputs.disk.isStopped
        }
        if starts { _ = StageThread("disk") { self.watch() } }
    }

    /// Measures the directories of a new version of the document from now on.
    package func follow(_ pipeline: Pipeline) {
        self.host.withOutputs { $0.disk.follow(pipeline) }
        self.start()
    }

    private func watch() {
        let clock = self.machine
        var counted: DiskUse?
        var places: [DiskUse.Place] = []
        var countsAt = clock.now()
        while !self.host.withOutputs(\.disk.isStopped) {
            let began = clock.now()
            let wanted = self.host.withOutputs(\.disk.places)
            if counted == nil || began >= countsAt || wanted != places {
                places = wanted
                // Directories of the second and later recording sessions.
                let takes = self.stages.recorder?.directories ?? []
                counted = DiskUse.measure(places + takes.map { DiskUse.Place($0, .recording) })
                let ended = clock.now()
                countsAt = ended &+ max(Self.pace, (ended &- began) &* 100)
            } else {
                counted = counted?.refreshed()
            }
            if let use = counted {
                let (recorded, now) = (self.stages.recorder?.kept ?? Recorder.RecordedAmount(), clock.now())
                self.perform(self.host.withOutputs { $0.disk.measured(use, recorded: recorded, at: now) })
                let full = self.host.withOutputs(\.disk.fullForSources)
                self.host.suspendSourceRecordings(because: full.map(Self.tooFull))
            }
            self.stages.diskWake.wait(for: Self.pace)
        }
    }

    /// Ends the thread that measures the disk. Does not wait for a measurement that hangs.
    package func stop() {
        self.host.withOutputs { $0.disk.isStopped = true }
        self.stages.diskWake.signal()
    }

    /// Handles a failed write of the live output.
    func failed(_ error: MediaError, at now: Int64) {
        // The disk has just returned an error, so this call does not hang.
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
                        "level": level.replyValue, "was": was.replyValue,
                        "state": level == .normal ? "cleared" : "set", "percent": JSONValue(reading.percent),
                        "threshold": JSONValue(max(level, was).threshold), "usedBytes": .integer(reading.used),
                        "maxBytes": .integer(reading.capacity), "path": JSONValue(reading.path),
                        "freeBytes": .integer(reading.free),
                        "stopped": status.stopped.replyValue,
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
                guard !self.stages.isOffline, self.stages.packager != nil else { continue }
                // The space of segments that are held for clips is needed for the window.
                if isLimited { self.host.outputs.clips.giveUpWaiting(ClipJobs.diskIsFull) }
                self.stages.packager?.limitWindow(to: isLimited ? HLSPackager.fewestSegments : nil)
                self.events.emit(
                    "output.window", ["segments": isLimited ? JSONValue(HLSPackager.fewestSegments) : .null])
            case .stopRecording(let reading):
                guard !self.stages.isOffline else { continue }
                self.stages.recorder?.stop(Self.tooFull(reading))
            case .resumeRecording:
                guard !self.stages.isOffline else { continue }
                self.stages.recorder?.resume()
            }
        }
    }

    private static func tooFull(_ reading: DiskGuard.Reading) -> MediaError {
        MediaError(
            .diskFull, "\(reading.place) has \(reading.free) bytes free, too few for the recording", at: "recording",
            fix: "free space, then the recording resumes; or raise limits.maxDiskBytes and restart the room")
    }

    /// The state of the disk for the API; nil before the first measurement.
    package var status: DiskState.Status? {
        let status = self.host.withOutputs(\.disk.current)
        return status.reading.capacity > 0 ? status : nil
    }
}
