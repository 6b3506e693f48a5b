package import Events
package import Ingest

extension RelayStatus.State: ReplyValue {}

/// The API's description of a relay, in replies about its source and as the reply to the command that starts it.
extension RelayStatus: NamedReply {
    package static let schemaName = "Relay"

    package static let members: [ReplyMember<Self>] = [
        ReplyMember("id") { $0.relayID }, ReplyMember("url", "without the stream key") { $0.url },
        ReplyMember("state") { $0.state }, ReplyMember("bytes") { Int64(clamping: $0.bytes) },
        ReplyMember("dropped", "packets dropped") { $0.dropped }, ReplyMember("retries") { $0.retries },
        ReplyMember("lastError") { $0.lastError },
    ]
}
