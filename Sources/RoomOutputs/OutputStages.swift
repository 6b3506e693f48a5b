package import Encoding
package import Logging
package import Packager
package import PipelineSpec
package import Program
package import Recording
package import Threading
package import Upload

/// The stages that produce a room's outputs. They are opened with the room, before anything runs.
package struct OutputStages: Sendable {
    package let ladder: EncodingStage
    /// Packages the HLS output; nil if the room has none.
    package let packager: HLSPackager?
    /// Records the program; nil if the room has no recording.
    package let recorder: SessionRecorder?
    /// The feeds of RTMP outputs and HTTP-FLV; nil for an offline job.
    package let live: LiveFeeds?
    /// The renditions for WebRTC viewers; nil if the room has no WebRTC output.
    package let webRTC: WebRTCFeeds?
    /// Passes a publisher's packets through to renditions without encoding; nil if no rendition uses it.
    package let passthrough: PassthroughSwitch?
    /// Puts renditions that nobody watches to sleep; nil if all are always encoded.
    package let watched: WatchedRenditions?
    /// The uploaders that copy the HLS output to other servers.
    package let uploads: [Uploader]
    package let snapshots: SnapshotService
    /// MPEG-TS outputs for old devices.
    package let transports: [MPEGTSOutput]
    /// Encodes the slate that fills the time since the previous worker; nil if there is nothing to fill.
    package let slate: SlateJob?
    /// The clock of the program.
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
    ///   - pipeline: The pipeline with which the room is opened.
    ///   - clock: The clock of the program, which is based on `machine`.
    package init(
        _ pipeline: Pipeline, _ ladder: EncodingStage, _ packager: HLSPackager?, recorder: SessionRecorder?,
        live: LiveFeeds?, webRTC: WebRTCFeeds? = nil, passthrough: PassthroughSwitch?,
        watched: WatchedRenditions? = nil, uploads: [Uploader],
        snapshots: SnapshotService, transports: [MPEGTSOutput], slate: SlateJob?, clock: ProgramClock,
        machine: any SleepClock,
        events: any OutputEvents, saved: any OutputMemory, logger: Logger
    ) {
        (self.ladder, self.packager, self.recorder, self.live) = (ladder, packager, recorder, live)
        (self.webRTC, self.watched) = (webRTC, watched)
        (self.passthrough, self.uploads, self.snapshots) = (passthrough, uploads, snapshots)
        (self.transports, self.slate) = (transports, slate)
        (self.clock, self.machine, self.events, self.saved, self.logger) = (clock, machine, events, saved, logger)
        (self.fps, self.isOffline) = (pipeline.canvas.fps, pipeline.clock == .offline)
        self.diskWake = machine.makeSemaphore()
    }
}
