package import Control
import HLS
import Ingest
import LibAV
import MediaKernels
import MediaTypes
import Packager
import PipelineSpec
package import RoomSources
import RTMP

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

extension RoomEvents {
    /// Tells who is quarantined from the start. An operator may have kicked somebody else by then.
    package func tellQuarantines(_ refusals: SourceRefusals) {
        for (source, refusal) in refusals.quarantines {
            self.emit(
                "source.quarantined",
                [
                    "uid": .string(source.description), "codec": JSONValue(refusal.codec),
                    "reason": "two workers died while they decoded it",
                    "until": .string(ProgramDate.format(refusal.until)),
                ])
        }
    }
}

extension Room {
    // MARK: Quarantine

    /// Learns whom earlier workers died of, and sees to it that the next one learns it of this one. Before anybody can publish.
    ///
    /// Only where the room has a state at all: a directory that its next worker finds.
    func recallCrashes() {
        guard let directory = self.pipeline.hls?.path, !self.isOffline else { return }
        let store = DirectoryStore(directory: directory)
        let path = "\(directory)/\(CrashQuarantine.name)"
        let now = self.clocks.wall.now() / 1_000_000
        if let text = store.read(CrashQuarantine.name) {
            let book = CrashQuarantine(text, modified: Self.modified(path) ?? now, now: now)
            self.value.withLock { value in
                for quarantine in book.quarantined(now: now) {
                    value.refusals.quarantine(
                        quarantine.source, until: quarantine.until * 1_000_000, codec: quarantine.codec)
                }
            }
            do throws(MediaError) {
                if book.crashes.isEmpty {
                    try store.remove(CrashQuarantine.name)
                } else {
                    try store.put(CrashQuarantine.name, [PacketMemory(Array(book.text.utf8))], durable: false)
                }
            } catch {
                self.logger.warning("what workers died of cannot be kept", metadata: ["error": "\(error)"])
            }
            for crash in book.crashes {
                self.logger.warning(
                    "an earlier worker died while it decoded a source",
                    metadata: ["uid": "\(crash.source)", "codec": "\(crash.codec)"])
            }
        }
        CrashMark.install(path: path)
    }

    /// The listeners are open by now.
    func announceQuarantines() { self.events.tellQuarantines(self.value.withLock { $0.refusals }) }

    /// What the RTMP server refuses from its start.
    func initialRefusals() -> [SourceID: IngestConfiguration.Refused] {
        self.value.withLock(\.refusals.all).mapValues { refusal in
            IngestConfiguration.Refused(
                refusal: refusal.reason == .kicked ? .kicked : .quarantined, until: self.machineTime(refusal.until))
        }
    }

    /// The source may not be shown for the time being.
    func isRefused(_ source: SourceID) -> Bool { self.refusal(of: source) != nil }

    private func refusal(of source: SourceID) -> SourceRefusal? {
        let now = self.clocks.wall.now()
        return self.value.withLock { $0.refusals.refusal(of: source, at: now) }
    }

    /// For the state: why the source may not be published; `null` when it may.
    func refusalJSON(of source: SourceID) -> JSONValue {
        guard let refusal = self.refusal(of: source) else { return .null }
        return ["reason": .string(refusal.reason.rawValue), "until": .string(ProgramDate.format(refusal.until))]
    }

    private func machineTime(_ wall: Int64) -> Int64 { self.machine.now() &+ (wall &- self.clocks.wall.now()) }

    /// Milliseconds since the Unix epoch.
    private static func modified(_ path: String) -> Int64? {
        var facts = stat()
        guard stat(path, &facts) == 0 else { return nil }
        return Int64(facts.st_mtim.tv_sec) * 1_000 + Int64(facts.st_mtim.tv_nsec) / 1_000_000
    }

    // MARK: Kick

    package func kickSource(uid: String, streamType: String, refuseSeconds: Int) throws(ControlFailure) -> String {
        try self.checkOpen()
        let slot = try self.slot(uid, streamType)
        let id = slot.spec.id
        guard !slot.isFile else {
            throw .invalidFormat("source \(id) is a file", fix: "put a scene without it on air", status: 422)
        }
        let now = self.clocks.wall.now()
        let asked = now &+ Int64(refuseSeconds) &* TimeMath.nanoseconds
        let kick = self.value.withLock { value in
            value.refusals.removeEnded(at: now)
            return value.refusals.kick(id, until: refuseSeconds > 0 ? asked : nil)
        }
        var until = asked
        if case .quarantined(let end) = kick { until = end }
        let wasPublishing = slot.isPublishing
        // Of one who is gone already the last picture may still be held, and what an offset shows later wait; of one who is there it
        // goes with the connection.
        if !wasPublishing { slot.decode.cutPast() }
        self.listeners.kick(id, until: self.machineTime(until))
        switch kick {
        case .refused: self.noteRefused(id, until: until)
        case .lifted: self.noteRefused(id, until: nil)
        case .quarantined: break
        }
        self.logger.info("publisher kicked", metadata: ["uid": "\(id)", "refuseSeconds": "\(refuseSeconds)"])
        self.events.emit(
            "source.kicked",
            [
                "uid": .string(id.description), "wasPublishing": .bool(wasPublishing),
                "refuseSeconds": JSONValue(refuseSeconds),
            ])
        let json: JSONValue = [
            "uid": .string(id.uid), "streamType": .string(id.streamType.rawValue),
            "wasPublishing": .bool(wasPublishing),
            "refused": self.refusalJSON(of: id),
        ]
        return json.text
    }
}
