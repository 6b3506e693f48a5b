package import Events
import Logging
package import MediaTypes
import Threading

/// A service for outputs of a room. It has no state of its own: all state is in ``OutputsState`` and in the stages.
protocol OutputService: Sendable {
    var host: any OutputsHost { get }
}

extension OutputService {
    var stages: OutputStages { self.host.outputStages }
    var events: any OutputEvents { self.stages.events }
    var logger: Logger { self.stages.logger }
    var machine: any SleepClock { self.stages.machine }
}

/// Access to all services for the outputs of a room.
package struct OutputServices: OutputService {
    let host: any OutputsHost

    /// The HLS output.
    package var hls: HLSOutputService { HLSOutputService(host: self.host) }
    package var clips: ClipService { ClipService(host: self.host) }
    package var recording: RecordingService { RecordingService(host: self.host) }
    /// RTMP outputs.
    package var pushes: PushService { PushService(host: self.host) }
    package var uploads: UploadService { UploadService(host: self.host) }
    /// Stills and thumbnail sheets.
    package var images: ImageService { ImageService(host: self.host) }
    /// MPEG-TS outputs.
    package var transports: TransportService { TransportService(host: self.host) }
    package var disk: DiskMonitor { DiskMonitor(host: self.host) }
    package var slate: SlateService { SlateService(host: self.host) }

    /// Parts that are permanently missing from this worker's outputs.
    package var damage: OutputDamage {
        var damage = self.host.withOutputs(\.damage)
        for output in self.stages.transports {
            let loss = output.loss
            guard loss.segments > 0 else { continue }
            let unknown = MediaError(
                .outputLost, "segments were not written", at: "outputs[\(output.outputID)]",
                fix: "restore the output's directory")
            damage.lost(loss.segments, of: output.outputID, because: loss.failure ?? unknown)
        }
        return damage
    }

    /// The current alarms of the outputs.
    ///
    /// - Returns: Alarms of this machine's disks and of damaged outputs, and alarms of outputs that are sent to other
    ///   servers.
    package func alarms() -> (onDisk: [RoomAlarm], elsewhere: [RoomAlarm]) {
        let now = self.machine.now()
        let (disk, restored) = self.host.withOutputs { ($0.disk, $0.restoredPlace) }
        let moved = restored.flatMap { OutputAlarm.ofPlace($0.path, noticed: $0.at, now: now) }
        let pushes = self.stages.live?.outputs.statuses ?? []
        let stores = self.stages.uploads.compactMap { upload in
            let statistics = upload.statistics
            return OutputAlarm.ofStore(
                upload.outputID, isFailing: statistics.isFailing, waiting: statistics.waitingSegments,
                reason: statistics.failure)
        }
        return (
            OutputAlarm.ofDisk(disk) + self.damage.alarms + (moved.map { [$0] } ?? []),
            pushes.compactMap { OutputAlarm.of($0) } + stores
        )
    }
}

extension OutputsHost {
    /// The services for the room's outputs.
    package var outputs: OutputServices { OutputServices(host: self) }

    /// Records that `count` segments of an output are lost, or the loss that the error describes if `count` is 0.
    package func lost(_ count: Int64 = 0, of outputID: String, because error: MediaError) {
        self.withOutputs { $0.damage.lost(count, of: outputID, because: error) }
    }
}
