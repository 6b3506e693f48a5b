import LibAV
import MediaTypes
import Program
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
}
