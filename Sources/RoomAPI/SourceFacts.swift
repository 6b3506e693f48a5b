import Control
package import Events
package import Ingest
package import MediaTypes
package import PipelineSpec
package import Program

/// The state of a source at one moment, from which replies, metrics and the summary are made.
package struct SourceFacts: Sendable {
    /// The part of a source's state that does not come from its decoder and its buffer.
    package struct Status: Sendable {
        /// The state of the source; one of ``SourceFacts/states``.
        package var state = "idle"
        /// The size and pixel format of the frames as last decoded; nil before the first frame.
        package var format: String?
        package var videoCodec: String?
        /// Codec of each audio track, by track number.
        package var audioCodecs: [UInt8: String] = [:]
        package var reconnects = 0
        package var lastError: String?
        package var health = HealthReply()
        /// Measurements of the source in the shape `Figures` of the API.
        package var figures = JSONValue.null
        /// Time up to which the arrival of the source's media is known, in nanoseconds of the monotonic clock.
        package var knownUntil: Int64 = 0

        package init() {}
    }

    let id: SourceID
    let name: String?
    let status: Status
    /// Counters of the publisher's connection; nil for a source that is read from a file.
    let ingest: SourceStatistics?
    let contribution: ProgramStage.Contribution
    let audioTracks: [AudioTrackFacts]
    let decoded: DecodeStage.Stats
    let timing: DecodeStage.Timing
    /// The delay of the program as far as it applies to the source, in nanoseconds.
    let delay: Int64
    let decodeTimes: DecodeTimeHistogram
    /// Number of packets and frames that the decoding stage or the buffer has dropped.
    let dropped: Int
    /// Number of canvases that were composed with a pane of the source. ``repeated`` counts the panes that showed the
    /// previous frame again because no newer one was available.
    let shown: Int64
    let repeated: Int64
    /// Offset of audio against video at each flash and beep, in microseconds.
    let lipSync: [Int64]
    /// Audio level of the source; nil if it is not measured.
    let level: AudioLevels.Level?
    /// Whether the source speaks; nil if the room does not find out.
    let isSpeaking: Bool?
    let relays: [RelayStatus]
    /// The source's own recording; nil if it has none.
    let recording: SourceRecordingFacts?
    /// Why the source may not be published; nil if it may.
    let refused: SourceRefusal?
    /// Number of data messages from the publisher to players that were sent and dropped.
    let messages: (taken: Int64, dropped: Int64)

    /// All values of ``Status/state``.
    package static let states = [
        "idle", "connected", "publishing", "live", "stalled", "lost", "reconnecting", "gone", "ended",
    ]

    /// Reads the counters of the source's decoder and buffer.
    ///
    /// - Parameters:
    ///   - refused: Why the source may not be published; nil if it may.
    ///   - messages: Number of data messages from the publisher to players that were sent and dropped.
    package init(
        _ spec: Pipeline.Source, _ status: Status, decode: DecodeStage, buffer: SourceBuffer,
        stats: ProgramStage.Stats, contribution: ProgramStage.Contribution, ingest: SourceStatistics?,
        level: AudioLevels.Level?, isSpeaking: Bool?, relays: [RelayStatus],
        recording: SourceRecordingFacts?, refused: SourceRefusal?, messages: (taken: Int64, dropped: Int64)
    ) {
        self.id = spec.id
        self.name = spec.name
        self.status = status
        self.ingest = ingest
        self.contribution = contribution
        self.audioTracks = buffer.audioTracks.sorted { $0.track < $1.track }.map { track, gain in
            AudioTrackFacts(
                track: Int(track), codec: status.audioCodecs[track], volume: Int((gain * 100).rounded()))
        }
        self.decoded = decode.stats
        self.timing = decode.timing
        self.delay = decode.delay
        self.decodeTimes = decode.decodeTimes
        self.dropped = self.decoded.dropped + buffer.droppedPictures
        self.shown = stats.shown[spec.id] ?? 0
        self.repeated = stats.repeated[spec.id] ?? 0
        self.lipSync = buffer.lipSync.offsets
        self.level = level
        self.isSpeaking = isSpeaking
        self.relays = relays
        self.recording = recording
        self.refused = refused
        self.messages = messages
    }

    /// Time from a packet's arrival until it is due, in milliseconds; nil before the first packet.
    var bufferMs: Int64? { self.timing.buffered.map { $0 / 1_000_000 } }
    var delayMs: Int64 { self.delay / 1_000_000 }
    var clockName: String { self.timing.isWallAligned ? "wall" : "arrival" }
    var wallMs: Int64 { self.timing.wallExtra / 1_000_000 }
}

/// One audio track of a source.
package struct AudioTrackFacts: Reply {
    let track: Int
    let codec: String?
    /// Volume of the track in percent.
    let volume: Int

    package static let members = [
        ReplyMember<Self>("track") { $0.track }, ReplyMember("codec") { $0.codec },
        ReplyMember("volume", "percent") { $0.volume },
    ]
}

extension SourceFacts: NamedReply {
    package static let schemaName = "Source"

    package static let members: [ReplyMember<Self>] = [
        ReplyMember("uid") { $0.id.uid },
        ReplyMember("streamType", as: APISchema.streamType) { $0.id.streamType.rawValue },
        ReplyMember("name") { $0.name },
        ReplyMember("state", as: APISchema.sourceState) { $0.status.state },
        ReplyMember("picture", "size and pixel format last decoded") { $0.status.format },
        ReplyMember("videoCodec") { $0.status.videoCodec },
        ReplyMember("audioTracks") { $0.audioTracks },
        ReplyMember("videoPackets") { $0.decoded.videoPackets },
        ReplyMember("audioPackets") { $0.decoded.audioPackets },
        ReplyMember("damaged", "audio and video packets that the decoder reported as damaged") { $0.decoded.damaged },
        ReplyMember("reopened", "how often a decoder was reopened") { $0.decoded.reopened },
        ReplyMember("dropped", "packets and frames dropped") { $0.dropped },
        ReplyMember("shown", "canvases composed with a pane of the source") { $0.shown },
        ReplyMember("repeated", "how often a frame was shown again because no newer one was due") { $0.repeated },
        ReplyMember("reconnects") { $0.status.reconnects },
        ReplyMember("lastError") { $0.status.lastError },
        ReplyMember("volume", "percent, as last set; a pane can have its own volume") {
            Int64(($0.contribution.volume * 100).rounded())
        },
        ReplyMember("audioPush", "audible") { $0.contribution.isHeard },
        ReplyMember("videoPush", "visible") { $0.contribution.isSeen },
        ReplyMember("relays") { $0.relays },
        ReplyMember("recording", "its own recording; null without sources[].record") { $0.recording },
        ReplyMember("level") { $0.level },
        ReplyMember("speaking", "whether it speaks; null without audio.speaking") { $0.isSpeaking },
        ReplyMember("refused") { $0.refused },
        ReplyMember("health") { $0.status.health },
        ReplyMember("figures", as: .named("Figures")) { $0.status.figures },
        ReplyMember("driftPpm", "its clock compared to the worker's") { $0.timing.driftPpm },
        ReplyMember("bufferMs", "milliseconds from a packet's arrival until it is due") { $0.bufferMs },
        ReplyMember("delayMs", "milliseconds after that until it is shown, because of program.delayMs") { $0.delayMs },
        ReplyMember("clock", as: APISchema.sourceClock) { $0.clockName },
        ReplyMember("wallMs") { $0.wallMs },
        ReplyMember("reanchors") { $0.timing.reanchors },
        ReplyMember("thinned", "frames left out because the source has a higher frame rate than the program") {
            $0.decoded.thinned
        },
        ReplyMember(
            "undecoded", "packets not decoded because their frames would not have been visible, or because of overload"
        ) {
            $0.decoded.undecoded
        },
    ]
}

/// The reply to `GET /v1/sources`.
package struct SourceListReply: NamedReply {
    package static let schemaName = "SourceList"
    let sources: [SourceFacts]

    package init(_ sources: [SourceFacts]) { self.sources = sources }

    package static let members = [ReplyMember<Self>("sources") { $0.sources }]
}

extension AudioLevels.Level: ReplyValue {
    package static var replyShape: JSONShape { .named("SoundLevel") }
    package var replyValue: JSONValue { RoomEvents.json(self) }
}
