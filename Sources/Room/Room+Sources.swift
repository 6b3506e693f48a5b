import MediaTypes
import Packager

extension Room {
    /// What the output reports, from its thread.
    func packager(did event: PackagerEvent) {
        switch event {
        case .slateFilled(let fill): self.filled(fill)
        case .segmentPublished(let segment):
            self.published(segment)
            let now = self.machine.now()
            self.perform(self.value.withLock { $0.disk.written(segment, at: now) })
        case .playlistEnded: self.events.emit("playlist.ended")
        case .superseded: self.tellSuperseded()
        case .outputFailed(let error):
            let now = self.machine.now()
            if let withheld = self.value.withLock({ $0.output.failures.tells(error.code, at: now) }) {
                self.logger.warning(
                    "an output could not be written", metadata: ["error": "\(error)", "untold": "\(withheld)"])
                self.events.emit("output.failed", ["reason": .string(error.description)])
            }
            self.diskFailed(error, at: now)
        case .segmentLost(let number, let tracks, let error):
            self.lost(1, of: self.pipeline.hls?.outputID ?? "hls", because: error)
            self.events.emit(
                "segment.lost",
                [
                    "mediaSequence": .integer(number), "tracks": .array(tracks.map { .string($0) }),
                    "reason": .string(error.description),
                ])
        case .placeRestored(let path, let lost):
            let reason =
                "\(path) was moved away, emptied or mounted over while the room ran; everything is written there again"
                + (lost > 0 ? ", but \(lost) segments are lost" : "")
            self.logger.warning(
                "an output's directory is another one", metadata: ["path": "\(path)", "lost": "\(lost)"])
            self.value.withLock { $0.output.restoredPlace = (path, self.machine.now()) }
            self.commands?.rewrite()
            if lost > 0 {
                self.lost(
                    Int64(lost), of: self.pipeline.hls?.outputID ?? "hls",
                    because: MediaError(
                        .outputLost, "the output directory was moved away, emptied or mounted over", at: "hls",
                        fix: "leave the directory alone while the room runs"))
            }
            self.events.emit("output.failed", ["reason": .string(reason)])
        case .bandwidthExceeded(let track, let measured, let declared):
            self.events.emit(
                "output.bandwidth",
                ["track": .string(track), "measured": .integer(measured), "declared": .integer(declared)])
        }
    }

    private func published(_ segment: PublishedSegment) {
        let isFirst = self.value.withLock { value -> Bool in
            value.output.segments += 1
            if !segment.isSlate {
                (value.output.lastSizes, value.output.lastFrames) = (segment.bytes, Int64(segment.frames.count))
            }
            return value.output.segments == 1
        }
        if !segment.isSlate, let time = self.clock.program(of: segment.publishedAt) {
            self.latencies.update { $0.viewing.published(segment.frames, at: time) }
        }
        let bytes = segment.bytes.sorted { $0.key < $1.key }.map { JSONValue.Member($0.key, JSONValue($0.value)) }
        self.events.emit(
            "segment.published",
            [
                "mediaSequence": .integer(segment.mediaSequence), "firstTick": .integer(segment.frames.lowerBound),
                "ticks": JSONValue(segment.frames.count), "bytes": .object(bytes), "slate": .bool(segment.isSlate),
            ])
        guard isFirst else { return }
        self.events.emit("broadcast.active", ["slate": .bool(segment.isSlate)])
        // Behind the event: what the room is from here on is told after it.
        self.value.withLock { $0.lifecycle.isPlayable = true }
    }
}
