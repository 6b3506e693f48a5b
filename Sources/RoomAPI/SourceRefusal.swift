package import Events
import HLS

/// Why a source may not be published, and until when.
package struct SourceRefusal: NamedReply, Equatable {
    package static let schemaName = "Refusal"

    package enum Reason: String, CaseIterable, ReplyValue, Sendable { case kicked, quarantined }

    package var reason: Reason
    /// When the source may be published again, in nanoseconds since the Unix epoch.
    package var until: Int64
    /// The codec of the decoder that crashed; nil for a kick.
    package var codec: String?

    package init(reason: Reason, until: Int64, codec: String? = nil) {
        self.reason = reason
        self.until = until
        self.codec = codec
    }

    package static let members: [ReplyMember<Self>] = [
        ReplyMember("reason") { $0.reason },
        ReplyMember("until", "when it may publish again", as: .date) { ProgramDate.format($0.until) },
    ]
}
