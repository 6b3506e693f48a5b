package import Control
import HLS
import Ladder
import MediaTypes
import PipelineSpec
import Program

extension Room: RoomControlling {
    package func stateJSON() -> String {
        let (state, origin, segments, addresses) = self.mutable.withLock {
            ($0.state, $0.origin, $0.segments, $0.addresses)
        }
        let stats = self.program.stats
        let sources = self.pipeline.sources.compactMap { self.slots[$0.id]?.json(stats: stats) }
        let renditions = self.pipeline.renditions.map { rendition -> JSONValue in
            [
                "name": .string(rendition.name), "width": JSONValue(rendition.width),
                "height": JSONValue(rendition.height),
            ]
        }
        let json: JSONValue = [
            "roomId": .string(self.pipeline.room.roomID), "title": JSONValue(self.pipeline.room.title),
            "state": .string(state.rawValue), "incarnation": .integer(self.packager?.incarnation ?? 1),
            "origin": JSONValue(origin.map { ProgramDate.format($0) }),
            "program": [
                "scene": .string(self.program.scene.sceneID),
                "scenes": .array(self.pipeline.scenes.map { .string($0.sceneID) }), "tick": .integer(self.program.tick),
            ],
            "sources": .array(sources), "renditions": .array(renditions), "segments": .integer(segments),
            "ticks": self.ticksJSON(stats), "backlog": JSONValue(self.ladder.backlog),
            "addresses": .object(addresses.map { .init($0.name, .string($0.address)) }),
        ]
        return json.text
    }

    func ticksJSON(_ stats: ProgramStage.Stats) -> JSONValue {
        let repeated = stats.repeated.sorted { $0.key.description < $1.key.description }
        return [
            "frames": .integer(stats.ticks), "late": .integer(stats.late), "lost": .integer(stats.lost),
            "repeated": .object(repeated.map { .init($0.key.description, .integer($0.value)) }),
        ]
    }

    package func setProgram(sceneID: String) throws(ControlFailure) {
        try self.checkOpen()
        guard let scene = self.pipeline.scene(sceneID) else {
            let known = self.pipeline.scenes.map(\.sceneID).joined(separator: ", ")
            throw .notFound("this room has no scene \"\(sceneID)\"", fix: "use one of: \(known)")
        }
        do {
            try self.program.setScene(SceneMapping.scene(scene, in: self.pipeline))
        } catch {
            throw .invalidLayout(error.what, fix: error.fix)
        }
        self.events.emit("program.scene", ["scene": .string(sceneID), "tick": .integer(self.program.tick)])
    }

    package func setSource(
        uid: String, streamType: String, volume: Int?, audioPush: Bool?, videoPush: Bool?
    ) throws(ControlFailure) {
        try self.checkOpen()
        guard let type = StreamType(rawValue: streamType), let slot = self.slots[SourceID(uid, type)] else {
            let known = self.pipeline.sources.map(\.id.description).joined(separator: ", ")
            throw .notFound("this room has no source \(uid) (\(streamType))", fix: "use one of: \(known)")
        }
        if let volume, !(0...200).contains(volume) {
            throw .invalidFormat("volume \(volume) is outside 0…200", fix: "100 is as published")
        }
        self.program.setSource(
            slot.spec.id, volume: volume.map { Float($0) / 100 }, audioPush: audioPush, videoPush: videoPush)
        self.events.emit("source.changed", ["uid": .string(slot.spec.id.description)])
    }

    private func checkOpen() throws(ControlFailure) {
        switch self.state {
        case .ending, .draining, .closed:
            throw .roomExited("the room is over", fix: "start another worker for it")
        case .starting, .waiting, .live: return
        }
    }

    package func end() { self.end(reason: "control") }

    package func drain() { self.drain(reason: "control") }

    package var health: HealthReport {
        let state = self.state
        let (lag, isLive) = self.tickLag()
        let ready = state == .waiting || state == .live
        return HealthReport(
            live: isLive, ready: ready, started: state != .starting, state: state.rawValue,
            checks: ["tick": lag.map { "\($0 / 1_000_000) ms behind the clock" } ?? "waiting for the first source"])
    }

    /// How far the tick loop is behind the room's clock, and whether that is alive: within 3 s.
    private func tickLag() -> (lag: Int64?, isLive: Bool) {
        guard self.state == .live, let now = self.clock.now() else { return (nil, true) }
        let tick = TimeMath.scale(
            self.program.tick, by: TimeMath.nanoseconds, over: Int64(self.pipeline.canvas.fps))
        let lag = max(0, now - tick)
        return (lag, lag < 3 * TimeMath.nanoseconds)
    }
}
