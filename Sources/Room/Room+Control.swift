package import Control
package import Events
package import MediaTypes
import RoomAPI

extension Room: RoomControlling {
    package var incarnation: Int64 { self.packager?.incarnation ?? 1 }

    package func setSource(uid: String, streamType: String, _ change: SourceChange) throws(ControlFailure) {
        try self.checkOpen()
        let source = try self.source(uid, streamType)
        if let track = change.audioTrack, !source.audioTracks.contains(track) {
            throw Self.unknownTrack(track, of: source.spec.id, among: source.audioTracks)
        }
        source.set(offset: change.offsetMs, rotation: change.rotation)
        if let track = change.audioTrack, let volume = change.volume {
            source.setVolume(volume, ofTrack: track, over: self.pipeline.audio.rampSamples)
        }
        let volume = change.audioTrack == nil ? change.volume.map { Float($0) / 100 } : nil
        self.program.setSource(
            source.spec.id, volume: volume, audioPush: change.audioPush,
            videoPush: change.videoPush)
        self.saved.record(source.spec.id, change)
        self.events.emit(
            "source.changed",
            [
                "uid": .string(source.spec.id.uid), "streamType": .string(source.spec.id.streamType.rawValue),
                "volume": change.volume.map { JSONValue($0) } ?? .null,
                "audioTrack": change.audioTrack.map { JSONValue($0) } ?? .null,
                "audioPush": change.audioPush.map { .bool($0) } ?? .null,
                "videoPush": change.videoPush.map { .bool($0) } ?? .null,
                "offsetMs": change.offsetMs.map { JSONValue($0) } ?? .null,
                "rotation": change.rotation.map { JSONValue($0) } ?? .null,
            ])
    }

    /// The error for a command that names an audio track the source does not have.
    ///
    /// - Parameter known: Track numbers of the source.
    package static func unknownTrack(_ track: Int, of source: SourceID, among known: [Int]) -> ControlFailure {
        .notFound(
            "source \(source) has no audio track \(track)",
            fix: "use one of these tracks: \(known.map { "\($0)" }.joined(separator: ", "))")
    }

    package func checkOpen() throws(ControlFailure) {
        let (state, outcome) = self.value.withLock { ($0.lifecycle.state, $0.lifecycle.outcome) }
        switch state {
        case .ending, .draining, .closed:
            if case .superseded? = outcome { throw .workerIsSuperseded }
            if state == .draining {
                throw .roomExited(
                    "this worker is handing the room over to a successor", fix: "send the command to the successor")
            }
            throw .roomExited(
                "the room has ended or is ending", fix: "start a new room (--new-session) if there should be one")
        case .starting, .waiting, .live: return
        }
    }

    package var eventLog: EventLog { self.events.log }

    package var commandMemory: CommandMemory { self.saved.memory }

    package func beginCommand() { self.saved.store?.begin() }

    package func endCommand(
        _ record: CommandRecord, waits: Bool, _ answer: @escaping @Sendable (CommandDurability) -> Void
    ) { self.saved.endCommand(record, waits: waits, answer) }

    package func addMetadata(_ body: [UInt8]) throws(ControlFailure) -> MetadataReply { try self.metadata.add(body) }

    package func playOverlay(_ name: String, _ options: OverlayOptions) throws(ControlFailure) -> String {
        try self.overlays.play(name, options)
    }

    package func addSubtitles(_ name: String, _ body: [UInt8]) throws(ControlFailure) -> String {
        try self.subtitles.add(name, body)
    }

    package var outputControl: any OutputControlling {
        OutputCommands(self, self.recorder, self.ladder) { [watched = self.outputStages.watched] track, seconds in
            watched?.announce(track, seconds: seconds) ?? true
        }
    }

    package func documentJSON() throws(ControlFailure) -> String { try self.document.documentJSON() }

    package func setDocument(_ body: [UInt8], isPatch: Bool, isDryRun: Bool) throws(ControlFailure) -> DocumentReply {
        try self.document.write(body, isPatch: isPatch, isDryRun: isDryRun, isRequest: true)
    }

    package func end() { self.end(reason: "control") }

    package func drain() { self.drain(reason: "control") }
}
