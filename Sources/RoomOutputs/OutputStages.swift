package import Encoding
package import Logging
package import Packager
package import PipelineSpec
package import Program
package import Recording
package import Threading
package import Upload

/// The stages of a room's outputs. Opened with the room, before anything runs.
package struct OutputStages: Sendable {
    package let ladder: EncodingStage
    /// Writes the HLS output; nil for a room without one.
    package let packager: HLSPackager?
    /// The recording; nil if the room has none.
    package let recorder: SessionRecorder?
    /// RTMP outputs and HTTP-FLV; nil for an offline job.
    package let live: LiveFeeds?
    /// Passes a publisher's packets on without encoding; nil if no rendition asks for it.
    package let passthrough: PassthroughSwitch?
    /// Copies of the HLS output on other servers.
    package let uploads: [Uploader]
    package let snapshots: SnapshotService
    /// MPEG-TS outputs for old devices.
    package let transports: [MPEGTSOutput]
    /// The slate of a successor that viewers are still waiting for.
    package let slate: SlateJob?
    /// The program's clock.
    let clock: ProgramClock
    let machine: any SleepClock
    let events: any OutputEvents
    let saved: any OutputMemory
    let logger: Logger
    let fps: Int
    let isOffline: Bool
    /// Wakes the thread that measures the disk.
    let diskWake: any ClockSemaphore

    /// - Parameters:
    ///   - pipeline: The pipeline that the room is opened with.
    ///   - clock: The program's clock, which reads `machine`.
    package init(
        _ pipeline: Pipeline, _ ladder: EncodingStage, _ packager: HLSPackager?, recorder: SessionRecorder?,
        live: LiveFeeds?, passthrough: PassthroughSwitch?, uploads: [Uploader], snapshots: SnapshotService,
        transports: [MPEGTSOutput], slate: SlateJob?, clock: ProgramClock, machine: any SleepClock,
        events: any OutputEvents, saved: any OutputMemory, logger: Logger
    ) {
        (self.ladder, self.packager, self.recorder, self.live) = (ladder, packager, recorder, live)
        (self.passthrough, self.uploads, self.snapshots) = (passthrough, uploads, snapshots)
        (self.transports, self.slate) = (transports, slate)
        (self.clock, self.machine, self.events, self.saved, self.logger) = (clock, machine, events, saved, logger)
        (self.fps, self.isOffline) = (pipeline.canvas.fps, pipeline.clock == .offline)
        self.diskWake = machine.makeSemaphore()
    }
}
