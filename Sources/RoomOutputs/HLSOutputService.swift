package import Encoding
package import MediaTypes
package import Packager
package import PipelineSpec
package import Recording

/// The room's HLS output: opens it, and reports its events.
package struct HLSOutputService: OutputService {
    let host: any OutputsHost

    private var outputID: String { self.host.pipeline.hls?.outputID ?? "hls" }

    /// Opens the HLS output, which claims the room.
    ///
    /// - Parameters:
    ///   - ladder: The encoders, which provide the codec parameters of the tracks.
    ///   - newSession: Whether to start a new session in a directory whose room has ended.
    ///   - recorder: Records what the playlists list; nil if the room has no recording.
    /// - Throws: ``MediaError`` if a directory or a secret cannot be used, or if the room in the directory has ended.
    package static func open(
        _ output: HLSOutput, _ pipeline: Pipeline, _ ladder: EncodingStage, newSession: Bool, clock: any MonotonicClock,
        _ recorder: SessionRecorder?, _ host: @escaping LateHost
    ) throws(MediaError) -> HLSPackager {
        var settings = try HLSOutputSettings(output, pipeline)
        settings.newSession = newSession
        return try HLSPackager.open(
            settings, tracks: pipeline.tracks(ladder.initializations), clock: clock, keeper: recorder
        ) { host()?.outputs.hls.report($0) }
    }

    /// Handles events of the output, on its thread.
    private func report(_ event: PackagerEvent) {
        switch event {
        case .slateFilled(let fill): self.reportFill(fill)
        case .segmentPublished(let segment):
            self.published(segment)
            let now = self.machine.now()
            self.host.outputs.disk.perform(self.host.withOutputs { $0.disk.written(segment, at: now) })
        case .playlistEnded: self.events.emit("playlist.ended", [:])
        case .superseded: self.host.tellSuperseded()
        case .outputFailed(let error):
            let now = self.machine.now()
            if let withheld = self.host.withOutputs({ $0.failures.tells(error.code, at: now) }) {
                self.logger.warning(
                    "an output could not be written", metadata: ["error": "\(error)", "untold": "\(withheld)"])
                self.events.emit("output.failed", ["reason": .string(error.description)])
            }
            self.host.outputs.disk.failed(error, at: now)
        case .segmentLost(let number, let tracks, let error):
            self.host.lost(1, of: self.outputID, because: error)
            self.events.emit(
                "segment.lost",
                [
                    "mediaSequence": .integer(number), "tracks": .array(tracks.map { .string($0) }),
                    "reason": .string(error.description),
                ])
        case .placeRestored(let path, let lost):
            let reason =
                "\(path) was moved away, emptied or mounted over while the room ran; all files are written there again"
                + (lost > 0 ? ", but \(lost) segments are lost" : "")
            self.logger.warning(
                "an output's directory was replaced", metadata: ["path": "\(path)", "lost": "\(lost)"])
            let noticed = self.machine.now()
            self.host.withOutputs { $0.restoredPlace = (path, noticed) }
            self.stages.saved.rewrite()
            if lost > 0 {
                self.host.lost(
                    Int64(lost), of: self.outputID,
                    because: MediaError(
                        .outputLost,
                        "its directory was moved away, emptied or mounted over, and these segments could not be restored",
                        at: "hls", fix: "do not move, empty or mount over the directory while the room runs"))
            }
            self.events.emit("output.failed", ["reason": .string(reason)])
        case .bandwidthExceeded(let track, let measured, let declared):
            self.events.emit(
                "output.bandwidth",
                ["track": .string(track), "measured": .integer(measured), "declared": .integer(declared)])
        }
    }

    private func published(_ segment: PublishedSegment) {
        let isFirst = self.host.withOutputs { $0.published(segment) }
        if !segment.isSlate { self.host.measureLatency(of: segment) }
        let bytes = segment.bytes.sorted { $0.key < $1.key }.map { JSONValue.Member($0.key, JSONValue($0.value)) }
        self.events.emit(
            "segment.published",
            [
                "mediaSequence": .integer(segment.mediaSequence), "firstTick": .integer(segment.frames.lowerBound),
                "ticks": JSONValue(segment.frames.count), "bytes": .object(bytes), "slate": .bool(segment.isSlate),
            ])
        guard isFirst else { return }
        self.events.emit("broadcast.active", ["slate": .bool(segment.isSlate)])
        // Called after the event was emitted, because events of the room's new state must follow it.
        self.host.becamePlayable()
    }

    private func reportFill(_ fill: SlateFill) {
        let frames = fill.frames.upperBound - fill.frames.lowerBound
        let milliseconds = TimeMath.scale(frames, by: 1_000, over: Int64(self.stages.fps))
        self.events.emit(
            "output.filled",
            [
                "reason": "restart", "mediaSequence": .integer(fill.mediaSequence),
                "segments": JSONValue(fill.wholeSegments), "firstTick": .integer(fill.frames.lowerBound),
                "ticks": .integer(frames), "durationMs": .integer(milliseconds),
                "discontinuity": .bool(!fill.isSeamless),
            ])
    }
}
