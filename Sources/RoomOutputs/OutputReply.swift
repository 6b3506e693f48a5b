package import Events
import MediaTypes
import PipelineSpec
import Push
import Recording
import Upload
import WHEP

/// An output in the reply to `GET /v1/room`. Its members depend on the output's type, and on whether the output runs.
package struct OutputReply: NamedReply {
    package static let schemaName = "Output"

    let output: Output
    /// Status of the RTMP output; nil for other types, and if it does not run.
    var push: PushStatus?
    /// Target and statistics of the store; nil for other types, and if it does not run.
    var upload: (target: String, statistics: Uploader.Statistics)?
    /// UDP address, default rendition and measurements of the WebRTC output; nil for other types, and if it does not run.
    var viewers: (udp: String, rendition: String, statistics: WHEPStatistics)?
    /// Status and session number of the recording; nil for other types, and if it does not run.
    var recording: (status: SessionRecorder.Status, number: Int?)?

    init(_ output: Output, _ stages: OutputStages, _ pushes: [PushStatus]) {
        self.output = output
        switch output {
        case .rtmp: self.push = pushes.first { $0.outputID == output.outputID }
        case .http, .s3:
            self.upload = stages.uploads.first { $0.outputID == output.outputID }.map {
                ($0.target.shown, $0.statistics)
            }
        case .record: self.recording = stages.recorder.map { ($0.status, $0.number) }
        case .webRTC:
            self.viewers = stages.webRTC.flatMap { webRTC in
                guard let udp = webRTC.address, let rendition = webRTC.rendition else { return nil }
                return (udp, rendition, webRTC.statistics)
            }
        case .hls, .transport, .raw, .image: break
        }
    }

    private var playlist: String? {
        switch self.output {
        case .hls(let hls): hls.multivariantPlaylist
        case .transport(let output): "\(output.outputID)/\(output.multivariantPlaylist)"
        default: nil
        }
    }

    private var isLowLatency: Bool? {
        guard case .hls(let hls) = self.output else { return nil }
        return hls.lowLatency
    }

    private var state: String? {
        if case .rtmp = self.output { return (self.push?.state ?? .waiting).rawValue }
        if let upload { return upload.statistics.state }
        return self.recording?.status.rawValue
    }

    /// Bytes sent by an RTMP output or to WebRTC viewers, or accepted by a store; nil for other outputs.
    private var bytes: Int64? {
        self.push.map { Int64(clamping: $0.bytes) } ?? self.upload?.statistics.bytes
            ?? self.viewers.map { Int64(clamping: $0.statistics.bytes) }
    }

    package static let members: [ReplyMember<Self>] = Self.ownMembers + Self.viewerMembers

    /// The members of all types except WebRTC outputs'.
    private static let ownMembers: [ReplyMember<Self>] = [
        ReplyMember("outputId") { $0.output.outputID }, ReplyMember("type") { $0.output.typeName },
        ReplyMember(optional: "playlist", "hls: the multivariant playlist") { $0.playlist },
        ReplyMember(optional: "lowLatency", "hls only") { $0.isLowLatency },
        ReplyMember(optional: "target", "http and s3: destination, without credentials") { $0.upload?.target },
        ReplyMember(optional: "url", "rtmp: destination, without the stream key") { $0.push?.url },
        ReplyMember(
            optional: "rendition", "rtmp: name of the rendition that is sent; webrtc: name of the one that /whep plays"
        ) { $0.push?.rendition ?? $0.viewers?.rendition },
        ReplyMember(optional: "udp", "webrtc: address from which viewers receive their media") { $0.viewers?.udp },
        ReplyMember(
            optional: "state",
            "rtmp: waiting, connecting, live, failed or stopped; http and s3: waiting, live or recovering; record: recording, stopping, suspended (disk full or failing) or stopped"
        ) { $0.state },
        ReplyMember(
            optional: "take", "record: number of the current recording, from 1; null: none",
            as: .orNull(.range(1...Int64.max))
        ) { $0.recording.map(\.number) },
        ReplyMember(
            optional: "queuedSegments", "http and s3: sequence numbers that the store's playlists do not list yet",
            as: .count
        ) { $0.upload?.statistics.waitingSegments },
        ReplyMember(
            optional: "objects", "http and s3: number of uploads that succeeded, including playlists", as: .count
        ) {
            $0.upload?.statistics.taken
        },
        ReplyMember(
            optional: "bytes",
            "rtmp: sent over all connections; http and s3: total size of the uploaded objects; webrtc: sent to all viewers",
            as: .count
        ) { $0.bytes },
        ReplyMember(
            optional: "acknowledged",
            "rtmp: bytes of this connection acknowledged by the server; null: it does not acknowledge",
            as: .orNull(.count)
        ) { $0.push.map { $0.acknowledged.map { Int64(clamping: $0) } } },
        ReplyMember(
            optional: "dropped",
            "rtmp: number of packets dropped because the server was too slow or a connection failed",
            as: .count
        ) { $0.push?.dropped },
        ReplyMember(optional: "queuedMs", "rtmp: queued media, in milliseconds", as: .count) { $0.push?.queuedMs },
        ReplyMember(optional: "retries", "rtmp: number of connection attempts made after a failure", as: .count) {
            $0.push?.retries
        },
        ReplyMember(optional: "lastError", "rtmp: why the last connection ended or failed") {
            $0.push.map(\.lastError)
        },
        ReplyMember(optional: "code", "rtmp: lastError as an error code") { $0.push.map(\.lastFailure) },
        ReplyMember(optional: "failures", "http and s3: number of uploads that failed", as: .count) {
            $0.upload?.statistics.failed
        },
        ReplyMember(optional: "lostSegments", "http and s3: number of segments that could not be uploaded", as: .count)
        {
            $0.upload?.statistics.lost
        },
    ]

    /// The members of a WebRTC output.
    private static let viewerMembers: [ReplyMember<Self>] = [
        ReplyMember(optional: "viewers", "webrtc: connected viewers", as: .count) {
            $0.viewers.map { Int64($0.statistics.viewers) }
        },
        ReplyMember(optional: "packets", "webrtc: packets sent to all viewers", as: .count) {
            $0.viewers.map { Int64(clamping: $0.statistics.packets) }
        },
        ReplyMember(optional: "retransmitted", "webrtc: packets sent again", as: .count) {
            $0.viewers.map { Int64(clamping: $0.statistics.retransmitted) }
        },
        ReplyMember(optional: "lostPackets", "webrtc: packets that viewers reported as lost", as: .count) {
            $0.viewers.map { Int64(clamping: $0.statistics.lost) }
        },
        ReplyMember(optional: "keyFrameRequests", "webrtc: key frames that viewers asked for", as: .count) {
            $0.viewers.map { Int64(clamping: $0.statistics.pictureLossRequests) }
        },
        ReplyMember(optional: "skippedGops", "webrtc: GOPs not sent to viewers that were too slow", as: .count) {
            $0.viewers.map { Int64(clamping: $0.statistics.skippedGOPs) }
        },
    ]
}

extension PushFailure: ReplyValue {}

extension Uploader.Statistics {
    fileprivate var state: String { self.isFailing ? "recovering" : self.taken > 0 ? "live" : "waiting" }
}

extension OutputServices {
    /// The outputs as `GET /v1/room` shows them, in the order of the pipeline.
    package var replies: [OutputReply] {
        let pushes = self.stages.live?.outputs.statuses ?? []
        return self.host.pipeline.outputs.map { OutputReply($0, self.stages, pushes) }
    }
}
