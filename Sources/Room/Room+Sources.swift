import LibAV
import MediaTypes
import Packager
import Program
import RoomSources
import Stages

extension Room {
    /// Starts the decode thread of every source, of those that come later, too, and the reader of every file.
    ///
    /// - Returns: The readers.
    func startSources() -> [StageThread] {
        var threads: [StageThread] = []
        let program = self.program
        self.roster.start { slot in slot.start { program.soundPosition } }
        for slot in self.slots.values {
            guard case .file(let path, let loops) = slot.spec.input else { continue }
            let opened = slot.takeReader()
            // A file that two workers died of leaves its pane to the placeholder.
            if self.isRefused(slot.spec.id) { continue }
            let reader = opened ?? FileReader(path: path, loops: loops, place: "source[\(slot.spec.id)]")
            threads.append(StageThread("file-\(slot.spec.id)") { self.read(reader, into: slot) })
        }
        return threads
    }

    private func read(_ reader: FileReader, into slot: SourceSlot) {
        let machine = self.machine
        slot.setPublishing(true)
        self.note(.source(slot.spec.id, .published), at: self.lifeTime)
        self.note(.source(slot.spec.id, .arrived), at: self.lifeTime)
        if slot.buffer.isPaced { slot.buffer.setStatus(.live, at: 0) } else { self.mediaArrived(at: machine.now()) }
        do {
            try reader.run(into: slot.decode) { machine.now() }
        } catch {
            slot.setError(error.description)
            self.events.emit(
                "source.failed", ["uid": .string(slot.spec.id.description), "reason": .string(error.description)])
            slot.decode.put(.end)
        }
    }

    /// What a decode stage reports, from its thread.
    func source(_ id: SourceID, did event: DecodeStage.Event) {
        let uid = JSONValue.string(id.description)
        let slot = self.slots[id]
        switch event {
        case .firstPicture(let format):
            slot?.setFormat(format)
            self.firstFrame(of: id, format)
        case .formatChanged(let format):
            slot?.setFormat(format)
            self.events.emit("source.format", ["uid": uid, "picture": .string(format.description)])
        case .firstSound:
            self.note(.source(id, .sounded), at: self.lifeTime) { [events = self.events] in
                events.emit("source.sound", ["uid": uid])
            }
        case .undecodable(let error):
            slot?.setError(error.description)
            self.logger.warning("a source cannot be decoded", metadata: ["uid": "\(id)", "error": "\(error)"])
            let code: ErrorCode = error.code == .tooLarge ? .inputTooLarge : .unsupportedCodec
            self.events.emit(
                "source.undecodable",
                ["uid": uid, "reason": .string(error.description), "code": .string(code.rawValue)])
        case .reanchored:
            let now = self.machine.now()
            let count = self.value.withLock { $0.reanchors[id, default: EventThrottle(now: now)].happened(now: now) }
            if let count { self.tellReanchored(id, count) }
        case .ended:
            self.note(.source(id, slot?.isFile == true ? .finished : .drained), at: self.lifeTime)
            // Whom nobody waited for was still on air when the life told of it.
            if !self.isOffline {
                self.value.withLock { $0.sceneWork.isLayoutDue = true }
                self.requestSettling()
            }
        }
    }

    private func tellReanchored(_ id: SourceID, _ count: Int) {
        let reason = self.slots[id]?.decode.timing.lastReason?.rawValue
        self.events.emit(
            "source.reanchored",
            ["uid": .string(id.description), "reason": JSONValue(reason), "count": JSONValue(count)])
    }

    /// Tells what was held back, once its time has come.
    func tellReanchored() {
        let now = self.machine.now()
        let due = self.value.withLock { value in
            value.reanchors.keys.compactMap { id in value.reanchors[id]?.due(now: now).map { (id, $0) } }
        }
        for (id, count) in due { self.tellReanchored(id, count) }
    }

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
