package import Control
import Encoding
import Program
import MediaTypes
package import Packager
import Recording
package import RoomAPI
package import RoomOutputs

extension Room: StagesHost, ModerationHost, IdleHost, HealthHost {
    package var isLive: Bool { self.state == .live }
    package var areOutputsPaused: Bool { self.overload.areOutputsPaused }
    var areStillsPaused: Bool { self.overload.areStillsPaused }
    var isAudioTapPaused: Bool { self.overload.isAudioTapPaused }

    package func withOutputs<Result: Sendable, Failure: Error>(
        _ body: (inout OutputsState) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try self.value.withLock { value throws(Failure) in try body(&value.outputs) }
    }

    package func measureLatency(of segment: PublishedSegment) {
        guard let time = self.clock.program(of: segment.publishedAt) else { return }
        self.latencies.published(segment.frames, at: time, fps: self.pipeline.canvas.fps)
    }

    func setCatchingUp(_ isCatchingUp: Bool) { self.overload.setCatchingUp(isCatchingUp) }

    func note(_ levels: AudioLevels) { self.value.withLock { $0.api.levels.note(levels) } }
    func note(_ change: SpeakingChange) { self.value.withLock { $0.api.speaking.note(change) } }

    package func becamePlayable() { self.value.withLock { $0.lifecycle.isPlayable = true } }
}

extension RoomEvents: OutputEvents {}

extension Room {
    var ladder: EncodingStage { self.outputStages.ladder }
    /// Packages the HLS output; nil if the room has none.
    var packager: HLSPackager? { self.outputStages.packager }
    var recorder: SessionRecorder? { self.outputStages.recorder }
    /// RTMP outputs and HTTP-FLV; nil for an offline job.
    var live: LiveFeeds? { self.outputStages.live }
    /// Passes a publisher's packets through to renditions without encoding; nil if no rendition uses it.
    var passthrough: PassthroughSwitch? { self.outputStages.passthrough }

    /// Parts that are permanently missing from this worker's outputs.
    package var damage: OutputDamage { self.outputs.damage }

    /// The final result of the room for events and the exit code; see ``RoomResult``.
    package func result(_ outcome: RoomOutcome) -> RoomResult {
        let (segments, pendingWork) = self.value.withLock { ($0.outputs.segments, $0.lifecycle.pendingWork) }
        return RoomResult(
            outcome, isOffline: self.isOffline, damage: self.damage, pendingWork: pendingWork, published: segments)
    }

    /// The state of the recording for `room.closed`.
    func recordingWord(_ outcome: RoomOutcome, error: MediaError?) -> JSONValue {
        outcome.recordingWord(
            hasRecorder: self.recorder != nil, isRecorded: self.withOutputs(\.isRecorded), error: error)
    }

    /// Starts the RTMP outputs. Each connects as soon as its rendition has packets.
    ///
    /// - Throws: ``MediaError`` if secrets or CA certificates cannot be read.
    func startPushes() throws(MediaError) {
        if let live = self.live { self.value.withLock { $0.servers.live = live.outputs } }
        try self.outputs.pushes.start(self.pipeline)
    }

    // MARK: Commands

    package func makeClip(_ request: ClipRequest) throws(ControlFailure) -> String {
        try self.checkOpen()
        return try self.outputs.clips.make(request)
    }

    package func clipJSON(_ id: String) throws(ControlFailure) -> String { try self.outputs.clips.json(id) }

    package func clipsJSON() -> String { self.outputs.clips.json() }

    package func openAudioTap() throws(ControlFailure) -> AudioTapStream {
        try self.checkOpen()
        guard self.isLive else { throw .programHasNotBegun }
        return try self.tap.open(at: self.program.audioPosition, isPaused: self.isAudioTapPaused)
    }

    package func snapshot(
        of source: (uid: String, streamType: String)?, width: Int?
    ) throws(ControlFailure) -> [UInt8] {
        var id: SourceID?
        if let source { id = try self.source(source.uid, source.streamType).spec.id }
        return try self.outputs.images.jpeg(of: id, width: width)
    }

    package func still(
        of source: (uid: String, streamType: String), width: Int, isLive: Bool, known: String?,
        _ answer: @escaping @Sendable (Result<SourceStill, ControlFailure>) -> Void
    ) {
        self.sendStill(of: source, width: width, isLive: isLive, known: known, answer)
    }
}
