package import Events
import MediaTypes
import PipelineSpec

/// The API's description of how long media takes through the room, with the limits that follow from the pipeline.
package struct LatencyReply: NamedReply {
    package static let schemaName = "Latency"

    /// Percentiles that take long to compute, since tens of thousands of measurements are sorted.
    package struct Measured: Sendable {
        fileprivate let sendToPart: SendToPart?
        fileprivate let sendToSegment: SendToSegment?
        fileprivate let partEncode: PartEncode?

        init(_ latencies: RoomLatencies, _ pipeline: Pipeline) {
            let hls = pipeline.hls
            let fps = Int64(max(1, pipeline.canvas.fps))
            func milliseconds(_ frames: Int) -> Int64 { Int64(frames) * 1000 / fps }
            let part = milliseconds(hls?.partFrames ?? 0)
            let segment = milliseconds(hls?.segmentFrames ?? 0)
            let jitter = Int64(pipeline.sources.map(\.jitterBufferMs).max() ?? 0)
            let slack = jitter + Int64(pipeline.overload.maxLagMs)
            self.sendToPart = latencies.partPercentiles.map { SendToPart(found: $0, limit: slack + part) }
            self.sendToSegment = latencies.segmentPercentiles.map { SendToSegment(found: $0, limit: slack + segment) }
            self.partEncode = latencies.encodingPercentiles.map { PartEncode(found: $0, limit: part) }
        }
    }

    private let program: ProgramLag
    private let measured: Measured

    init(_ facts: RoomFacts, _ measured: Measured) {
        self.program = ProgramLag(lag: facts.lag / 1_000_000, limit: facts.pipeline.overload.maxLagMs)
        self.measured = measured
    }

    package static let members: [ReplyMember<Self>] = [
        ReplyMember("program") { $0.program },
        ReplyMember("sendToPart", "from the arrival of a frame until its part is available") { $0.measured.sendToPart },
        ReplyMember("sendToSegment", "from the arrival of a frame until its segment is available") {
            $0.measured.sendToSegment
        },
        ReplyMember("partEncode", "from the last frame of a part entering the encoder until the part is available") {
            $0.measured.partEncode
        },
    ]
}

private struct ProgramLag: Reply {
    let lag: Int64
    let limit: Int

    static let members: [ReplyMember<Self>] = [
        ReplyMember("lagMs", "how far the program is behind its clock") { $0.lag },
        ReplyMember("limitMs", "overload.maxLagMs") { $0.limit },
    ]
}

/// Description of the limits of both durations that begin at the arrival of a frame.
private let limitMeaning = "jitter buffer, plus a part or segment, plus overload.maxLagMs, as configured"

private struct SendToPart: Reply {
    let found: (p50: Int, p95: Int, p99: Int)
    let limit: Int64

    static let members: [ReplyMember<Self>] = [
        ReplyMember("p50Ms") { $0.found.p50 }, ReplyMember("p95Ms") { $0.found.p95 },
        ReplyMember("p99Ms") { $0.found.p99 },
        ReplyMember("limitMs", limitMeaning) { $0.limit },
    ]
}

private struct SendToSegment: Reply {
    let found: (p50: Int, p95: Int)
    let limit: Int64

    static let members: [ReplyMember<Self>] = [
        ReplyMember("p50Ms") { $0.found.p50 }, ReplyMember("p95Ms") { $0.found.p95 },
        ReplyMember("limitMs", limitMeaning) { $0.limit },
    ]
}

private struct PartEncode: Reply {
    /// Number of measurements, and percentiles in microseconds.
    let found: (count: Int, p50: Int64, p99: Int64, max: Int64)
    let limit: Int64

    static let members: [ReplyMember<Self>] = [
        ReplyMember("p50Ms", as: .number) { JSONValue.thousandths($0.found.p50) },
        ReplyMember("p99Ms", as: .number) { JSONValue.thousandths($0.found.p99) },
        ReplyMember("maxMs", as: .number) { JSONValue.thousandths($0.found.max) },
        ReplyMember("limitMs", "duration of a part") { $0.limit },
    ]
}
