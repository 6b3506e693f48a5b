import DequeModule
package import HTTPListener
import HTTPTypes
import Synchronization

/// What operators have changed so far, so that two of them do not overwrite each other and none does a thing twice.
///
/// `revision` counts the commands that changed something, from 1 on; what the room does by itself (a timer, a source that
/// comes or goes) does not count. The entity tag names the worker as well: `"3.17"`.
///
/// Spec: RFC 9110 §13.1.1 (If-Match); `Idempotency-Key` as draft-ietf-httpapi-idempotency-key-header.
package final class ControlLedger: Sendable {
    private struct Kept {
        /// Of the request: the same key with another one is a mistake of the sender's.
        let fingerprint: String
        /// `nil` while it is carried out.
        var reply: ListenerReply?
    }

    private struct State {
        var revision: Int64 = 1
        /// Commands that are being carried out.
        var running = 0
        var kept: [String: Kept] = [:]
        var order: Deque<String> = []
    }

    /// Keys whose replies are remembered; the oldest give way, but for those of commands that are being carried out.
    package static let keyCapacity = 256
    /// Characters of a key.
    private static let longestKey = 128

    private let incarnation: Int64
    private let seal: @Sendable (String) -> String
    private let state: Mutex<State>

    /// - Parameters:
    ///   - incarnation: Which worker of the room this is.
    ///   - memory: What the workers before it have answered.
    package init(incarnation: Int64, memory: CommandMemory = CommandMemory()) {
        self.incarnation = incarnation
        self.seal = memory.seal
        var state = State()
        state.revision = max(1, memory.revision)
        for kept in memory.replies.suffix(Self.keyCapacity) where state.kept[kept.key] == nil {
            state.kept[kept.key] = Kept(fingerprint: kept.fingerprint, reply: kept.reply)
            state.order.append(kept.key)
        }
        self.state = Mutex(state)
    }

    /// What the request has left behind, once it was carried out or refused.
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

    /// The revision and its entity tag.
    package var current: (revision: Int64, entityTag: String) {
        let revision = self.state.withLock(\.revision)
        return (revision, self.tag(revision))
    }

    /// A change by the room's operators without a command: by its file.
    ///
    /// - Parameter body: Tells whether it has changed something.
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

    /// Carries out a command under the conditions of its fields, or gives the reply it had before.
    ///
    /// - Parameter body: Gets nothing done twice at once for one key. Its failures are replies as well.
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
            // What was refused by its condition or for a moment may be tried again under its key.
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
            // Nobody knows yet what the others make of the revision.
            if let condition, condition != "*", state.running > 0 { throw Self.stale(self.tag(state.revision)) }
            state.running += 1
        }
    }

    /// - Returns: The entity tag from here on.
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
            code: "superseded", number: 1301, status: 412, what: "the room has been changed since: it is at \(tag)",
            fix: "GET /v1/room, look at what has changed, and send its ETag as If-Match")
    }

    /// Strong comparison with any of the tags of a list.
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
        guard (1...self.longestKey).contains(field.utf8.count), field.utf8.allSatisfy(Self.isPlain) else {
            throw .invalidFormat(
                "the Idempotency-Key cannot be taken",
                fix: "send 1 to \(self.longestKey) letters, digits, _ . or -, such as a UUID")
        }
        return field
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x5f, 0x2e, 0x2d: true
        default: false
        }
    }

    /// The same in every process: a later worker compares it, too. FNV-1a of 64 bits over the parts, each behind its length.
    private static func fingerprint(_ request: ListenerRequest) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        func add(_ bytes: some Sequence<UInt8>) {
            for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        }
        var body: [UInt8] = []
        if case .bytes(let bytes) = request.body { body = bytes }
        let head = request.head
        for part in [head.method.rawValue, head.path ?? "", head.headerFields[.ifMatch] ?? ""] {
            add("\(part.utf8.count):".utf8)
            add(part.utf8)
        }
        add(body)
        return String(hash, radix: 16)
    }

    /// - Returns: What the same request was answered; `nil`: it is for the caller to carry out.
    private func reserve(_ key: String, _ fingerprint: String) throws(ControlFailure) -> ListenerReply? {
        try self.state.withLock { state throws(ControlFailure) -> ListenerReply? in
            guard let known = state.kept[key] else {
                state.kept[key] = Kept(fingerprint: fingerprint)
                state.order.append(key)
                // Not one that is being carried out: it would be carried out again.
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
                    what: "another request has been sent with this Idempotency-Key",
                    fix: "make a new key for each command")
            }
            guard var reply = known.reply else {
                throw ControlFailure(
                    code: "requestFailed", number: 1417, status: 409,
                    what: "the request of this Idempotency-Key is being carried out", fix: "send it again in a moment")
            }
            reply.fields[Self.replayed] = "true"
            return reply
        }
    }

    /// - Parameter reply: `nil`: it may be tried again.
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
