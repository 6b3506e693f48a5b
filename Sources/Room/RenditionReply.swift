import Events
import MediaTypes
import PipelineSpec

/// A rendition, and what it took of the last segment.
struct RenditionReply: NamedReply {
    static let schemaName = "Rendition"

    let rendition: Rendition
    /// In bit/s, of the last segment; nil before the first.
    let measuredBitrate: Int64?
    /// The source whose packets pass, or why none do; null if the rendition has no passthrough.
    let passthrough: JSONValue

    /// nil for audio alone.
    private var picture: Rendition? { self.rendition.isAudioOnly ? nil : self.rendition }

    static let members: [ReplyMember<Self>] = [
        ReplyMember("name") { $0.rendition.name },
        ReplyMember("width") { $0.picture?.width },
        ReplyMember("height") { $0.picture?.height },
        ReplyMember("fps") { $0.picture?.fps },
        ReplyMember("codec") { $0.picture?.video.codec.rawValue },
        ReplyMember("bitrate", "bit/s, target of the encoder") { $0.picture?.video.bitrate },
        ReplyMember("maxBitrate", "bit/s, limit of the encoder") { $0.picture?.video.maxBitrate },
        ReplyMember("measuredBitrate", "bit/s, measured over the last segment") { $0.measuredBitrate },
        ReplyMember(
            "passthrough",
            as: .orNull(
                .object([
                    JSONField("uid", .orNull(.string)),
                    JSONField("reason", .orNull(.string), "why the source is not passed through"),
                ]))
        ) { $0.rendition.isAudioOnly ? .null : $0.passthrough },
    ]
}
