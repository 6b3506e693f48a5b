import Control
package import Events
import Ingest
import Program
import RTMP

/// The reply to `GET /v1/stats`: what is received from every source, and how it is used.
package struct StatisticsReply: NamedReply {
    package static let schemaName = "Statistics"

    let facts: RoomFacts
    let sources: [SourceStatisticsReply]
    /// Whether the reply includes the members of level debug, such as what was corrected and dropped before decoding.
    let isDebug: Bool

    /// - Parameter isDebug: Whether the reply includes the members of level debug.
    package init(_ facts: RoomFacts, isDebug: Bool) {
        self.facts = facts
        self.sources = facts.sources.map { SourceStatisticsReply(facts: $0, isDebug: isDebug) }
        self.isDebug = isDebug
    }

    package static let members: [ReplyMember<Self>] = [
        ReplyMember("level", as: .words(["standard", "debug"])) { $0.isDebug ? "debug" : "standard" },
        ReplyMember("tick") { $0.facts.tick },
        ReplyMember("ticks") { $0.facts.stats },
        ReplyMember("sources") { $0.sources },
        ReplyMember(optional: "backlog", "level debug only") { $0.isDebug ? $0.facts.backlog : nil },
        ReplyMember(optional: "overload") { $0.isDebug ? $0.facts.overload : nil },
    ]
}

/// Statistics of one source.
struct SourceStatisticsReply: NamedReply {
    static let schemaName = "SourceStatistics"

    let facts: SourceFacts
    let isDebug: Bool

    /// The source if the reply is at level debug; otherwise nil.
    private var debug: SourceFacts? { self.isDebug ? self.facts : nil }
    /// Counters of the publisher's connection; nil at level standard, and for a source that is read from a file.
    private var ingest: SourceStatistics? { self.debug?.ingest }

    static let members: [ReplyMember<Self>] = Self.standard + Self.mended + Self.received

    private static let standard: [ReplyMember<Self>] = [
        ReplyMember("uid") { $0.facts.id.uid },
        ReplyMember("streamType", as: APISchema.streamType) { $0.facts.id.streamType.rawValue },
        ReplyMember("state", as: APISchema.sourceState) { $0.facts.status.state },
        ReplyMember("picture") { $0.facts.status.format },
        ReplyMember("bytes") { $0.facts.ingest.map { Int64(clamping: $0.bytes) } },
        ReplyMember("videoPackets") { $0.facts.decoded.videoPackets },
        ReplyMember("audioPackets") { $0.facts.decoded.audioPackets },
        ReplyMember("keyFrames") { $0.facts.ingest?.keyFrames ?? 0 },
        ReplyMember("health") { $0.facts.status.health },
        ReplyMember("figures", as: .named("Figures")) { $0.facts.status.figures },
        ReplyMember("shown") { $0.facts.shown },
        ReplyMember("repeated") { $0.facts.repeated },
        ReplyMember("dropped") { $0.facts.dropped },
        ReplyMember("damaged") { $0.facts.decoded.damaged },
        ReplyMember("driftPpm") { $0.facts.timing.driftPpm },
        ReplyMember("bufferMs") { $0.facts.bufferMs },
        ReplyMember("delayMs") { $0.facts.delayMs },
    ]

    private static let mended: [ReplyMember<Self>] = [
        ReplyMember(optional: "reopened") { $0.debug?.decoded.reopened },
        ReplyMember(optional: "thinned") { $0.debug?.decoded.thinned },
        ReplyMember(optional: "undecoded") { $0.debug?.decoded.undecoded },
        ReplyMember(optional: "reanchors") { $0.debug?.timing.reanchors },
        ReplyMember(optional: "lastReanchor") { $0.debug.map { $0.timing.lastReason?.rawValue } },
        ReplyMember(optional: "clock", as: APISchema.sourceClock) { $0.debug?.clockName },
        ReplyMember(optional: "wallMs") { $0.debug?.wallMs },
        ReplyMember(optional: "decode") { $0.debug.map { DecodeTimesReply(times: $0.decodeTimes) } },
    ]

    private static let received: [ReplyMember<Self>] = [
        ReplyMember(optional: "publications") { $0.ingest?.publications },
        ReplyMember(optional: "publishing") { $0.ingest?.isPublishing },
        ReplyMember(optional: "silenceMs") { reply in
            reply.ingest.map { ingest -> Int64? in
                guard ingest.lastPacket != 0 else { return nil }
                return max(0, reply.facts.status.knownUntil - ingest.lastPacket) / 1_000_000
            }
        },
        ReplyMember(optional: "quirks") { $0.ingest?.quirks.description },
        ReplyMember(optional: "demuxed") { $0.ingest.map { DemuxerReply(counters: $0.demuxed) } },
        ReplyMember(optional: "webrtc") { $0.ingest?.webRTC.map { WebRTCReply(statistics: $0) } },
    ]
}

/// Measurements of a WebRTC publisher, in the current or last publication.
private struct WebRTCReply: Reply {
    let statistics: WebRTCStatistics

    static let members: [ReplyMember<Self>] = [
        ReplyMember("transport", "udp or tcp") { $0.statistics.transport },
        ReplyMember("cipher", "protection profile of SRTP") { $0.statistics.cipher },
        ReplyMember("rttMs", "round-trip time") { $0.statistics.media.roundTrip.map { $0 / 1_000_000 } },
        ReplyMember("jitterMs", "jitter of the track with the most") { $0.statistics.jitter / 1_000_000 },
        ReplyMember("lossPermille", "packets that the network lost in the last second, of the track with the most") {
            Int64(($0.statistics.fractionLost * 1000).rounded())
        },
        ReplyMember("networkLost", "packets that the network lost, before retransmission") {
            $0.statistics.networkLost
        },
        ReplyMember("recovered", "lost packets that arrived after a request") { $0.statistics.recovered },
        ReplyMember("abandoned", "lost packets that did not arrive in time") { $0.statistics.abandoned },
        ReplyMember("nacks", "requests for lost packets sent") { $0.statistics.nacks },
        ReplyMember("keyFrameRequests", "PLI and FIR messages sent") { $0.statistics.keyFrameRequests },
        ReplyMember("estimateBps", "bit rate allowed by REMB; null if the publisher estimates it itself") {
            $0.statistics.media.estimate.map { Int64($0) }
        },
        ReplyMember("damagedFrames", "frames dropped because packets of them or of an earlier frame are missing") {
            Int64(clamping: $0.statistics.damagedFrames)
        },
        ReplyMember(
            "dropped",
            "frames and audio packets dropped because a queue for them was full, and frames dropped while waiting for a key frame"
        ) {
            Int64(clamping: $0.statistics.dropped)
        },
        ReplyMember("refused", "datagrams that are not authentic, repeated, or malformed") {
            Int64(clamping: $0.statistics.refused)
        },
    ]
}

/// Percentiles of how long frames took to decode.
private struct DecodeTimesReply: Reply {
    let times: DecodeTimeHistogram

    static let members: [ReplyMember<Self>] = [
        ReplyMember("pictures") { Int64(clamping: $0.times.count) },
        ReplyMember("p50Us") { $0.times.microseconds(permille: 500) },
        ReplyMember("p95Us") { $0.times.microseconds(permille: 950) },
    ]
}

/// Counters of messages and frames that were dropped or corrected before the decoder.
private struct DemuxerReply: Reply {
    let counters: FLVDemuxer.Counters

    static let members: [ReplyMember<Self>] = [
        ReplyMember("short") { $0.counters.short }, ReplyMember("empty") { $0.counters.empty },
        ReplyMember("malformed") { $0.counters.malformed }, ReplyMember("sanitized") { $0.counters.sanitized },
        ReplyMember("badConfigurations") { $0.counters.badConfigurations },
        ReplyMember("beforeConfiguration") { $0.counters.beforeConfiguration },
        ReplyMember("badCompositionOffsets") { $0.counters.badCompositionOffsets },
        ReplyMember("unsupported") { $0.counters.unsupported }, ReplyMember("extraTracks") { $0.counters.extraTracks },
        ReplyMember("badHeaders") { $0.counters.badHeaders },
    ]
}
