package import Control
import Events
import HLS
package import Ingest
import LibAV
import Libc
import MediaKernels
package import MediaTypes
import Packager
package import RoomAPI

/// Refuses publishers of a source for some time, because a command has kicked the source or earlier workers crashed in its
/// decoder.
package struct SourceRefusalService: Sendable {
    let host: any SourcesHost

    private var parts: SourceParts { self.host.sourceParts }

    // MARK: Quarantine

    /// Quarantines each source in whose decoder earlier workers crashed twice within a minute (``CrashQuarantine``), and
    /// makes sure that a crash of this worker in a decoder is recorded for the next one. Must be called before publishers
    /// are admitted.
    ///
    /// - Parameter directory: The room's HLS output directory, which the next worker reads too.
    package func recallCrashes(inDirectory directory: String) {
        let store = DirectoryStore(directory: directory)
        let path = "\(directory)/\(CrashQuarantine.name)"
        let now = self.parts.clocks.wall.now() / 1_000_000
        let logger = self.parts.logger
        if let text = store.read(CrashQuarantine.name) {
            let known = CrashQuarantine(text, modified: Self.modified(path) ?? now, now: now)
            self.host.withSources { state in
                for quarantine in known.quarantined(now: now) {
                    state.refusals.quarantine(
                        quarantine.source, until: quarantine.until * 1_000_000, codec: quarantine.codec)
                }
            }
            do throws(MediaError) {
                if known.crashes.isEmpty {
                    try store.remove(CrashQuarantine.name)
                } else {
                    try store.put(CrashQuarantine.name, [PacketMemory(Array(known.text.utf8))], durable: false)
                }
            } catch {
                logger.warning("the record of crashes cannot be written", metadata: ["error": "\(error)"])
            }
            for crash in known.crashes {
                logger.warning(
                    "an earlier worker crashed while it decoded a source",
                    metadata: ["uid": "\(crash.source)", "codec": "\(crash.codec)"])
            }
        }
        CrashMark.install(path: path)
    }

    /// When the file was last written, in milliseconds since the Unix epoch; nil if there is no file.
    private static func modified(_ path: String) -> Int64? {
        var facts = stat()
        guard stat(path, &facts) == 0 else { return nil }
        return Int64(facts.st_mtim.tv_sec) * 1_000 + Int64(facts.st_mtim.tv_nsec) / 1_000_000
    }

    /// Emits `source.quarantined` for each source that is quarantined at the start.
    package func announceQuarantines() { self.host.withSources(\.refusals).announceQuarantines(self.parts.events) }

    // MARK: Questions

    /// The sources that may not be published until a time, which may have passed; for the publishers' listener.
    package var refused: [SourceID: IngestConfiguration.Refused] {
        self.host.withSources(\.refusals.all).mapValues { refusal in
            IngestConfiguration.Refused(
                refusal: refusal.reason == .kicked ? .kicked : .quarantined, until: self.machineTime(refusal.until))
        }
    }

    /// Whether the source may not be published now.
    func isRefused(_ source: SourceID) -> Bool { self.refusal(of: source) != nil }

    /// Why the source may not be published; nil if it may be published.
    package func refusal(of source: SourceID) -> SourceRefusal? {
        let now = self.parts.clocks.wall.now()
        return self.host.withSources { $0.refusals.refusal(of: source, at: now) }
    }

    private func machineTime(_ wall: Int64) -> Int64 {
        self.parts.clocks.machine.now() &+ (wall &- self.parts.clocks.wall.now())
    }

    // MARK: Kick

    /// Disconnects the publisher of a source, and refuses publishers of the source for `seconds`. 0 lifts every refusal of
    /// the source. Otherwise a quarantine that lasts longer than the kick stays.
    ///
    /// - Returns: The reply of the API, as JSON text.
    package func kick(_ uid: String, streamType: String, seconds: Int) throws(ControlFailure) -> String {
        try self.host.checkOpen()
        let source = try self.host.source(uid, streamType)
        let id = source.spec.id
        guard !source.isFile else {
            throw .invalidFormat(
                "source \(id) is a file and has no publisher", fix: "put a scene without it on air", status: 422)
        }
        let now = self.parts.clocks.wall.now()
        let asked = now &+ Int64(seconds) &* TimeMath.nanoseconds
        let kick = self.host.withSources { state in
            state.refusals.removeEnded(at: now)
            return state.refusals.kick(id, until: seconds > 0 ? asked : nil)
        }
        var until = asked
        if case .quarantined(let end) = kick { until = end }
        let wasPublishing = source.isPublishing
        // If the publisher has already left, then its last frame may still be repeated, and frames delayed by an offset
        // may wait. If it is connected, then both end with the connection.
        if !wasPublishing { source.decode.cutPast() }
        self.host.ingestion.connections.kick(id, until: self.machineTime(until))
        switch kick {
        case .refused: self.parts.saved.saveRefusal(of: id, until: until)
        case .lifted: self.parts.saved.saveRefusal(of: id, until: nil)
        case .quarantined: break
        }
        self.parts.logger.info("publisher kicked", metadata: ["uid": "\(id)", "refuseSeconds": "\(seconds)"])
        self.parts.events.emit(
            "source.kicked",
            [
                "uid": .string(id.description), "wasPublishing": .bool(wasPublishing),
                "refuseSeconds": JSONValue(seconds),
            ])
        let json: JSONValue = [
            "uid": .string(id.uid), "streamType": .string(id.streamType.rawValue),
            "wasPublishing": .bool(wasPublishing), "refused": self.refusal(of: id).replyValue,
        ]
        return json.text
    }
}

extension SourceRefusals {
    /// Emits `source.quarantined` for each quarantined source. Kicked sources are not reported.
    package func announceQuarantines(_ events: RoomEvents) {
        for (source, refusal) in self.quarantines {
            events.emit(
                "source.quarantined",
                [
                    "uid": .string(source.description), "codec": JSONValue(refusal.codec),
                    "reason": "two workers crashed while they decoded it",
                    "until": .string(ProgramDate.format(refusal.until)),
                ])
        }
    }
}
