import Ingest
import MediaTypes
import PipelineSpec
import Program
import RoomSources
import RTMP

extension Room {
    /// What comes in from every source, and what becomes of it.
    ///
    /// - Parameter isDebug: With what was mended and dropped on the way.
    package func statisticsJSON(isDebug: Bool) -> String {
        let stats = self.program.stats
        let connections = self.ingestion.connections
        let rows = self.pipeline.sources.compactMap { source -> JSONValue? in
            guard let slot = self.slots[source.id] else { return nil }
            let ingest = connections.hub(for: source.id)?.statistics
            var members = self.standardMembers(slot, ingest, stats)
            if isDebug { members += self.debugMembers(slot, ingest, stats) }
            return .object(members)
        }
        var members: [JSONValue.Member] = [
            .init("level", .string(isDebug ? "debug" : "standard")), .init("tick", .integer(self.program.tick)),
            .init("ticks", self.ticksJSON(stats)), .init("sources", .array(rows)),
        ]
        if isDebug {
            members.append(.init("backlog", JSONValue(self.ladder.backlog)))
            members.append(.init("overload", self.overloadJSON))
        }
        return JSONValue.object(members).text
    }

    private func standardMembers(
        _ slot: RoomSource, _ ingest: SourceStatistics?, _ stats: ProgramStage.Stats
    ) -> [JSONValue.Member] {
        let (decoded, timing) = (slot.decode.stats, slot.decode.timing)
        return [
            .init("uid", .string(slot.spec.id.uid)), .init("streamType", .string(slot.spec.id.streamType.rawValue)),
            .init("state", .string(slot.state.rawValue)), .init("picture", JSONValue(slot.format?.description)),
            .init("bytes", ingest.map { .integer(Int64(clamping: $0.bytes)) } ?? .null),
            .init("videoPackets", JSONValue(decoded.videoPackets)),
            .init("audioPackets", JSONValue(decoded.audioPackets)),
            .init("keyFrames", .integer(Int64(ingest?.keyFrames ?? 0))), .init("health", slot.healthJSON),
            .init("figures", slot.healthFigures), .init("shown", JSONValue(stats.shown[slot.spec.id] ?? 0)),
            .init("repeated", JSONValue(stats.repeated[slot.spec.id] ?? 0)),
            .init("dropped", JSONValue(decoded.dropped + slot.buffer.droppedPictures)),
            .init("damaged", JSONValue(decoded.damaged)),
            .init("driftPpm", timing.driftPpm.map { JSONValue($0) } ?? .null),
            .init("bufferMs", timing.buffered.map { .integer($0 / 1_000_000) } ?? .null),
        ]
    }

    private func debugMembers(
        _ slot: RoomSource, _ ingest: SourceStatistics?, _ stats: ProgramStage.Stats
    ) -> [JSONValue.Member] {
        let (decoded, timing) = (slot.decode.stats, slot.decode.timing)
        var members: [JSONValue.Member] = [
            .init("reopened", JSONValue(decoded.reopened)), .init("thinned", JSONValue(decoded.thinned)),
            .init("undecoded", JSONValue(decoded.undecoded)), .init("reanchors", JSONValue(timing.reanchors)),
            .init("lastReanchor", JSONValue(timing.lastReason?.rawValue)),
            .init("clock", .string(timing.isWallAligned ? "wall" : "arrival")),
            .init("wallMs", .integer(timing.wallExtra / 1_000_000)),
            .init("decode", Self.json(slot.decode.decodeTimes)),
        ]
        guard let ingest else { return members }
        let known = slot.arrivals.known(at: self.machine.now())
        let silence = ingest.lastPacket == 0 ? nil : max(0, known - ingest.lastPacket) / 1_000_000
        members += [
            .init("publications", JSONValue(ingest.publications)), .init("publishing", .bool(ingest.isPublishing)),
            .init("silenceMs", silence.map { .integer($0) } ?? .null),
            .init("quirks", .string(ingest.quirks.description)),
            .init("demuxed", Self.json(ingest.demuxed)),
        ]
        return members
    }

    /// How long pictures took to decode, in microseconds.
    private static func json(_ times: DecodeTimeHistogram) -> JSONValue {
        [
            "pictures": .integer(Int64(clamping: times.count)),
            "p50Us": times.microseconds(permille: 500).map { JSONValue($0) } ?? .null,
            "p95Us": times.microseconds(permille: 950).map { JSONValue($0) } ?? .null,
        ]
    }

    /// What was dropped or mended before the decoder.
    private static func json(_ counters: FLVDemuxer.Counters) -> JSONValue {
        [
            "short": JSONValue(counters.short), "empty": JSONValue(counters.empty),
            "malformed": JSONValue(counters.malformed), "sanitized": JSONValue(counters.sanitized),
            "badConfigurations": JSONValue(counters.badConfigurations),
            "beforeConfiguration": JSONValue(counters.beforeConfiguration),
            "badCompositionOffsets": JSONValue(counters.badCompositionOffsets),
            "unsupported": JSONValue(counters.unsupported), "extraTracks": JSONValue(counters.extraTracks),
            "badHeaders": JSONValue(counters.badHeaders),
        ]
    }
}
