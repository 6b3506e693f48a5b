package import Control
package import Events
import HLS
import Encoding
package import MediaTypes
import PipelineSpec
import Program
import RoomScenes
import RoomSources

extension Room: RoomControlling {
    package var incarnation: Int64 { self.packager?.incarnation ?? 1 }

    package func stateJSON(revision: Int64) -> String {
        let (state, origin, segments, addresses) = self.value.withLock {
            ($0.lifecycle.state, $0.lifecycle.origin, $0.outputs.segments, $0.lifecycle.addresses)
        }
        let scenes = self.scenes.shown
        let stats = self.program.stats
        let phase = self.phaseMembers
        let sources = self.pipeline.sources.compactMap {
            self.slots[$0.id].map { self.json(of: $0, stats) }
        }
        let json: JSONValue = [
            "roomId": .string(self.pipeline.room.roomID), "title": JSONValue(self.pipeline.room.title),
            "state": phase.state, "since": phase.since, "cause": phase.cause, "desired": .string(state.desired),
            "revision": .integer(revision),
            "incarnation": .integer(self.incarnation), "time": .string(ProgramDate.format(self.clocks.wall.now())),
            "origin": JSONValue(origin.map { ProgramDate.format($0) }),
            "program": [
                "scene": .string(scenes.onAir.sceneID),
                "scenes": .array(scenes.shelf.scenes.map { .string($0.sceneID) }), "tick": .integer(self.program.tick),
                "level": self.levelJSON,
            ],
            "pk": PKCommands(self.scenes).json, "sources": .array(sources),
            "canvas": self.canvasJSON, "renditions": self.renditionsJSON, "outputs": self.outputsJSON,
            "latency": self.latencyJSON, "alarms": self.alarmsJSON,
            "segments": .integer(segments),
            "ticks": self.ticksJSON(stats), "backlog": JSONValue(self.ladder.backlog), "overload": self.overloadJSON,
            "disk": self.outputs.disk.json,
            "addresses": .object(addresses.map { .init($0.name, .string($0.address)) }),
        ]
        return json.text
    }

    func ticksJSON(_ stats: ProgramStage.Stats) -> JSONValue {
        let repeated = stats.repeated.sorted { $0.key.description < $1.key.description }
        return [
            "frames": .integer(stats.ticks), "late": .integer(stats.late), "lost": .integer(stats.lost),
            "longestSwapUs": .integer(stats.longestSwap / 1000),
            "repeated": .object(repeated.map { .init($0.key.description, .integer($0.value)) }),
        ]
    }

    package func sourcesJSON() -> String {
        let stats = self.program.stats
        let rows = self.pipeline.sources.compactMap {
            self.slots[$0.id].map { self.json(of: $0, stats) }
        }
        let json: JSONValue = ["sources": .array(rows)]
        return json.text
    }

    package func sourceJSON(uid: String, streamType: String) throws(ControlFailure) -> String {
        let slot = try self.source(uid, streamType)
        return self.json(of: slot, self.program.stats).text
    }

    private func json(of slot: RoomSource, _ stats: ProgramStage.Stats) -> JSONValue {
        let id = slot.spec.id
        return slot.json(
            stats: stats, contribution: self.program.contribution(of: id), relays: self.relaying.json(of: id),
            level: self.levelJSON(of: id), refused: self.refusing.json(of: id))
    }

    package func setSource(uid: String, streamType: String, _ change: SourceChange) throws(ControlFailure) {
        try self.checkOpen()
        let slot = try self.source(uid, streamType)
        if let track = change.audioTrack, !slot.audioTracks.contains(track) {
            throw Self.unknownTrack(track, of: slot.spec.id, among: slot.audioTracks)
        }
        if let offset = change.offsetMs { slot.decode.setOffset(milliseconds: offset) }
        if let rotation = change.rotation { slot.decode.setRotation(rotation / 90) }
        if let track = change.audioTrack, let volume = change.volume {
            let ramp = Int64(self.pipeline.audio.rampMs) * Int64(self.pipeline.audio.sampleRate) / 1000
            slot.buffer.setGain(Float(volume) / 100, ofTrack: UInt8(clamping: track), over: max(1, ramp))
        }
        let volume = change.audioTrack == nil ? change.volume.map { Float($0) / 100 } : nil
        self.program.setSource(
            slot.spec.id, volume: volume, audioPush: change.audioPush,
            videoPush: change.videoPush)
        self.noteCommanded(slot.spec.id, change)
        self.events.emit(
            "source.changed",
            [
                "uid": .string(slot.spec.id.uid), "streamType": .string(slot.spec.id.streamType.rawValue),
                "volume": change.volume.map { JSONValue($0) } ?? .null,
                "audioTrack": change.audioTrack.map { JSONValue($0) } ?? .null,
                "audioPush": change.audioPush.map { .bool($0) } ?? .null,
                "videoPush": change.videoPush.map { .bool($0) } ?? .null,
                "offsetMs": change.offsetMs.map { JSONValue($0) } ?? .null,
                "rotation": change.rotation.map { JSONValue($0) } ?? .null,
            ])
    }

    /// - Parameter known: The tracks there are.
    package static func unknownTrack(_ track: Int, of source: SourceID, among known: [Int]) -> ControlFailure {
        .notFound(
            "source \(source) has no audio track \(track)",
            fix: "use one of: \(known.map { "\($0)" }.joined(separator: ", "))")
    }

    package func checkOpen() throws(ControlFailure) {
        let (state, outcome) = self.value.withLock { ($0.lifecycle.state, $0.lifecycle.outcome) }
        switch state {
        case .ending, .draining, .closed:
            if case .superseded? = outcome { throw .workerIsSuperseded }
            throw .roomExited("the room is over", fix: "start another worker for it")
        case .starting, .waiting, .live: return
        }
    }

    package var eventLog: EventLog { self.events.log }

    package func end() { self.end(reason: "control") }

    package func drain() { self.drain(reason: "control") }
}
