import Events
import MediaTypes
import PipelineSpec

/// The API's description of a rendition: its settings and its measured bit rate.
struct RenditionReply: NamedReply {
    static let schemaName = "Rendition"

    let rendition: Rendition
    /// Name of the encoder that the rendition has now; nil if it is audio only.
    let encoder: String?
    /// Bit rate of the last segment in bit/s; nil before the first segment.
    let measuredBitrate: Int64?
    /// The source whose packets are passed through without encoding, or the reason why none are; null if the rendition
    /// has no passthrough.
    let passthrough: JSONValue

    /// The rendition if it has video; nil if it is audio only.
    private var picture: Rendition? { self.rendition.isAudioOnly ? nil : self.rendition }

    static let members: [ReplyMember<Self>] = [
        ReplyMember("name") { $0.rendition.name },
        ReplyMember("width") { $0.picture?.width },
        ReplyMember("height") { $0.picture?.height },
        ReplyMember("fps") { $0.picture?.fps },
        ReplyMember("codec") { $0.picture?.video.codec.rawValue },
        ReplyMember("encoder", "the encoder in use; libx264 if it has replaced a hardware encoder") { $0.encoder },
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
