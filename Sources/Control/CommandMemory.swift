import HTTPListener
import HTTPTypes

/// The revision of the commands and the replies to them that earlier workers of the room have saved.
package struct CommandMemory: Sendable {
    /// 1 plus the number of commands that have changed something; see ``CommandRevisions``.
    package var revision: Int64
    /// Replies to commands with an idempotency key, the oldest first.
    package var replies: [KeptReply]
    /// Converts the fingerprint of a request to a form that may be saved: a salted hash, which is the same in every
    /// worker of the room. Requests contain stream keys, which could be guessed from an unsalted fingerprint.
    package var seal: @Sendable (String) -> String

    package init(
        revision: Int64 = 1, replies: [KeptReply] = [], seal: @escaping @Sendable (String) -> String = { $0 }
    ) {
        self.revision = revision
        self.replies = replies
        self.seal = seal
    }
}

/// The saved reply to a request with an `Idempotency-Key`.
package struct KeptReply: Sendable, Hashable {
    package var key: String
    /// The hash of the request as ``CommandMemory/seal`` has converted it.
    package var fingerprint: String
    package var status: Int
    package var entityTag: String?
    package var contentType: String?
    package var body: String

    package init(
        key: String, fingerprint: String, status: Int, entityTag: String?, contentType: String?, body: String
    ) {
        self.key = key
        self.fingerprint = fingerprint
        self.status = status
        self.entityTag = entityTag
        self.contentType = contentType
        self.body = body
    }

    /// Makes the saved form of a reply; nil if the reply's body is not in memory.
    init?(key: String, fingerprint: String, _ reply: ListenerReply) {
        let body: String
        switch reply.body {
        case .none: body = ""
        case .bytes(let bytes, let range): body = String(decoding: bytes[range], as: UTF8.self)
        default: return nil
        }
        self.init(
            key: key, fingerprint: fingerprint, status: reply.status.code, entityTag: reply.fields[.eTag],
            contentType: reply.fields[.contentType], body: body)
    }

    var reply: ListenerReply {
        var fields: HTTPFields = [.cacheControl: "no-store"]
        fields[.eTag] = self.entityTag
        fields[.contentType] = self.contentType
        return ListenerReply(
            HTTPResponse.Status(code: self.status), fields: fields, body: self.body.isEmpty ? .none : .text(self.body))
    }
}

/// The effect of a command that is saved for later workers.
package struct CommandRecord: Sendable {
    package var revision: Int64
    /// The reply to save; nil if the command had no `Idempotency-Key`, or may be repeated with it.
    package var reply: KeptReply?
}

/// Whether the effect of a command survives this worker.
package enum CommandDurability: Sendable, Hashable {
    /// The command is on disk, or its reply does not wait for that.
    case durable
    /// The command is in force in this worker, but it is not on disk yet.
    case late
    /// Another worker has taken over the room, and does not know the command.
    case superseded
}

extension ListenerReply {
    private static let durable = HTTPField.Name("Tandem-Durable") ?? .from

    /// Adds to the reply that the command is not on disk yet, or replaces the reply by an error if another worker has
    /// taken over.
    func saying(_ durability: CommandDurability) -> ListenerReply {
        switch durability {
        case .durable: return self
        case .superseded:
            return .problem(.workerIsSuperseded)
        case .late:
            var reply = self
            reply.fields[Self.durable] = "false"
            guard case .bytes(let bytes, let range) = self.body else { return reply }
            let text = String(decoding: bytes[range], as: UTF8.self)
            guard text.hasPrefix("{"), let end = text.lastIndex(of: "}") else { return reply }
            let members = text[..<end]
            reply.body = .text("\(members)\(members == "{" ? "" : ",")\"durable\":false}\n")
            return reply
        }
    }
}
