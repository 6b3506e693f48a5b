import MediaTypes
import DequeModule
package import HTTPListener
import HTTPTypes
import Synchronization

/// Counts the commands of operators and remembers replies, so that two operators do not overwrite each other's changes
/// and a repeated request is not carried out twice.
///
/// The revision is 1 plus the number of commands that changed something. Changes by the room itself (timers, sources
/// that start or stop) do not count. The entity tag (`ETag`) consists of the worker's number and the revision,
/// such as `"3.17"`.
///
/// Spec: RFC 9110 §13.1.1 (If-Match); `Idempotency-Key` as draft-ietf-httpapi-idempotency-key-header.
package final class CommandRevisions: Sendable {
    private struct StoredReply {
        /// Hash of the request. The same key with a different request is an error of the client.
        let fingerprint: String
        /// The reply; nil while the command is in progress.
        var reply: ListenerReply?
    }

    private struct State {
        var revision: Int64 = 1
        /// Number of commands in progress.
        var running = 0
        var kept: [String: StoredReply] = [:]
        var order: Deque<String> = []
    }

    /// Number of idempotency keys whose replies are remembered. The oldest are forgotten, except those of commands in
    /// progress.
    package static let keyCapacity = 256
    /// Largest length of a key in characters.
    private static let longestKey = 128

    private let incarnation: Int64
    private let seal: @Sendable (String) -> String
    private let state: Mutex<State>

    /// - Parameters:
    ///   - incarnation: Number of this worker among the workers of the room.
    ///   - memory: The revision and the replies that earlier workers have saved.
    package init(incarnation: Int64, memory: CommandMemory = CommandMemory()) {
        self.incarnation = incarnation
        self.seal = memory.seal
        var state = State()
        state.revision = max(1, memory.revision)
        for kept in memory.replies.suffix(Self.keyCapacity) where state.kept[kept.key] == nil {
            state.kept[kept.key] = StoredReply(fingerprint: kept.fingerprint, reply: kept.reply)
            state.order.append(kept.key)
        }
        self.state = Mutex(state)
    }

    /// The data to save for later workers after the request was carried out or refused.
    func record(of request: ListenerRequest) -> CommandRecord {
        let key = request.head.headerFields[Self.idempotencyKey]
        return self.state.withLock { state in
            let known = key.flatMap { key in
                state.kept[key].flatMap { kept in
                    kept.reply.flatMap { KeptReply(key: key, fingerprint: kept.fingerprint, $0) }
                }
            }
            return CommandRecord(revision: state.revision, reply: known)
        }
    }

    /// The current revision with its entity tag.
    package var current: (revision: Int64, entityTag: String) {
        let revision = self.state.withLock(\.revision)
        return (revision, self.tag(revision))
    }

    /// Carries out a change that no request asked for, such as that of a changed pipeline file. It counts as a command.
    ///
    /// - Parameter body: Returns whether it has changed something.
    package func carryOut<Failure: Error>(_ body: () throws(Failure) -> Bool) throws(Failure) {
        self.state.withLock { $0.running += 1 }
        do throws(Failure) {
            self.finish(changed: try body())
        } catch {
            self.finish(changed: false)
            throw error
        }
    }

    private func tag(_ revision: Int64) -> String { "\"\(self.incarnation).\(revision)\"" }

    /// Carries out a command if its `If-Match` condition holds. If a request with the same `Idempotency-Key` was
    /// already carried out, then its reply is returned instead.
    ///
    /// - Parameter body: Carries out the command. Not called twice at the same time for one key. Its errors are
    ///   remembered as replies too, except those of momentary causes, after which the client can repeat the request.
    package func carryOut(
        _ request: ListenerRequest, _ body: () throws(ControlFailure) -> ControlOutcome
    ) throws(ControlFailure) -> ListenerReply {
        let key = try Self.key(request.head.headerFields[Self.idempotencyKey])
        if let key, let reply = try self.reserve(key, self.seal(Self.fingerprint(request))) { return reply }
        var outcome: ControlOutcome
        do throws(ControlFailure) {
            try self.begin(request.head.headerFields[.ifMatch])
            do throws(ControlFailure) {
                outcome = try body()
            } catch {
                self.finish(changed: false)
                throw error
            }
        } catch {
            // If the condition did not hold, or the command failed temporarily, then the client can repeat it with the
            // same key.
            self.keep(Self.isMomentary(error) ? nil : .problem(error), key)
            throw error
        }
        outcome.reply.fields[.eTag] = self.finish(changed: outcome.changed)
        self.keep(outcome.reply, key)
        return outcome.reply
    }

    private static func isMomentary(_ failure: ControlFailure) -> Bool {
        failure.status == 412 || failure.status == 429 || failure.status >= 500
            || failure.status == 409 && failure.code == "requestFailed"
    }

    // MARK: If-Match

    private func begin(_ condition: String?) throws(ControlFailure) {
        try self.state.withLock { state throws(ControlFailure) in
            if let condition, !Self.names(condition, self.tag(state.revision)) {
                throw Self.stale(self.tag(state.revision))
            }
            // Commands in progress may still change the revision, so the condition cannot be checked reliably.
            if let condition, condition != "*", state.running > 0 { throw Self.stale(self.tag(state.revision)) }
            state.running += 1
        }
    }

    /// Records the end of a command.
    ///
    /// - Returns: The new entity tag.
    @discardableResult
    private func finish(changed: Bool) -> String {
        self.tag(
            self.state.withLock { state in
                state.running -= 1
                if changed { state.revision &+= 1 }
                return state.revision
            })
    }

    private static func stale(_ tag: String) -> ControlFailure {
        ControlFailure(
            code: "superseded", number: 1301, status: 412, what: "the room has changed; its ETag is now \(tag)",
            fix: "request GET /v1/room, check what has changed, and send its ETag as If-Match")
    }

    /// Whether the condition contains the tag, by strong comparison, or is `*`.
    private static func names(_ condition: String, _ tag: String) -> Bool {
        condition.split(separator: ",").contains { item in
            let item = item.filter { $0 != " " && $0 != "\t" }
            return item == "*" || item == tag
        }
    }

    // MARK: Idempotency-Key

    private static let idempotencyKey = HTTPField.Name("Idempotency-Key") ?? .from
    private static let replayed = HTTPField.Name("Idempotent-Replayed") ?? .from

    private static func key(_ field: String?) throws(ControlFailure) -> String? {
        guard let field else { return nil }
        guard (1...self.longestKey).contains(field.utf8.count), field.isPlain(marks: "_.-") else {
            throw .invalidFormat(
                "the Idempotency-Key is invalid",
                fix: "send 1 to \(self.longestKey) letters, digits, _ . or -, such as a UUID")
        }
        return field
    }

    /// Hash of a request that is the same in every process, because later workers compare it too: 64-bit FNV-1a over
    /// method, path and `If-Match`, each preceded by its length, and the body.
    private static func fingerprint(_ request: ListenerRequest) -> String {
        var bytes: [UInt8] = []
        let head = request.head
        for part in [head.method.rawValue, head.path ?? "", head.headerFields[.ifMatch] ?? ""] {
            bytes += "\(part.utf8.count):\(part)".utf8
        }
        if case .bytes(let body) = request.body { bytes += body }
        return String(FNV1a.hash(bytes), radix: 16)
    }

    /// Reserves an idempotency key.
    ///
    /// - Returns: The reply to an earlier identical request; nil if the caller must carry out the command.
    private func reserve(_ key: String, _ fingerprint: String) throws(ControlFailure) -> ListenerReply? {
        try self.state.withLock { state throws(ControlFailure) -> ListenerReply? in
            guard let known = state.kept[key] else {
                state.kept[key] = StoredReply(fingerprint: fingerprint)
                state.order.append(key)
                // A command in progress is not forgotten, because a repeated request would then carry it out again.
                while state.order.count > Self.keyCapacity,
                    let place = state.order.firstIndex(where: { state.kept[$0]?.reply != nil })
                {
                    let oldest = state.order.remove(at: place)
                    state.kept[oldest] = nil
                }
                return nil
            }
            guard known.fingerprint == fingerprint else {
                throw ControlFailure(
                    code: "duplicateId", number: 1403, status: 409,
                    what: "this Idempotency-Key was used for a different request",
                    fix: "use a new key for each command")
            }
            guard var reply = known.reply else {
                throw ControlFailure(
                    code: "requestFailed", number: 1417, status: 409,
                    what: "the request with this Idempotency-Key is still in progress", fix: "send it again in a moment"
                )
            }
            reply.fields[Self.replayed] = "true"
            return reply
        }
    }

    /// Remembers the reply for a key.
    ///
    /// - Parameter reply: The reply; nil if the request can be repeated with the key.
    private func keep(_ reply: ListenerReply?, _ key: String?) {
        guard let key else { return }
        self.state.withLock { state in
            if let reply {
                state.kept[key]?.reply = reply
            } else {
                state.kept[key] = nil
                state.order.removeAll { $0 == key }
            }
        }
    }
}
