import Libc
import Dispatch
import Threading
import Synchronization

/// Stores the number of the last event that each webhook has received or that was skipped for it, and which webhooks have
/// answered 410, in a file next to the journal, so that a successor continues there. After a worker is killed, an event may be
/// sent twice.
///
/// A line of the file has the id of a webhook, a space and a number; or, if the webhook has answered 410, `!` and
/// ``Webhook/fingerprint``. Programs that do not know such a line ignore it.
package final class DeliveryLog: Sendable {
    package static let name = "events.delivered"
    /// Name of the file while it is written. A worker that is killed meanwhile leaves it behind.
    package static let temporaryName = "events.delivered.new"

    private struct State {
        var delivered: [String: Int64]
        /// Fingerprints of the webhooks that have answered 410, by id.
        var refused: [String: String]
        var isScheduled = false
    }

    private let directory: String?
    private let queue = DispatchQueue(label: "delivered")
    private let state: Mutex<State>

    /// Reads the stored numbers.
    ///
    /// - Parameter directory: Directory of the file; `nil`: nothing is stored.
    init(directory: String?) {
        self.directory = directory
        var delivered: [String: Int64] = [:]
        var refused: [String: String] = [:]
        if let directory {
            let text = FileReading.tail(of: "\(directory)/\(Self.name)", limit: 64 << 10)
            for line in String(decoding: text, as: UTF8.self).split(separator: "\n").prefix(1024) {
                let fields = line.split(separator: " ")
                guard fields.count == 2 else { continue }
                if fields[1].hasPrefix("!") { refused[String(fields[0])] = String(fields[1].dropFirst()) }
                guard let sequence = Int64(fields[1]), sequence >= 0 else { continue }
                delivered[String(fields[0])] = sequence
            }
        }
        self.state = Mutex(State(delivered: delivered, refused: refused))
    }

    /// Returns the number of the last event that a webhook has received or that was skipped for it; `nil` if none is
    /// stored.
    func delivered(to id: String) -> Int64? { self.state.withLock { $0.delivered[id] } }

    func set(_ sequence: Int64, for id: String) {
        self.change { state in
            guard state.delivered[id] != sequence else { return false }
            state.delivered[id] = sequence
            return true
        }
    }

    /// Removes a webhook. If it is added again, it is treated as new.
    func forget(_ id: String) {
        self.change { state in
            let (delivered, refused) = (
                state.delivered.removeValue(forKey: id), state.refused.removeValue(forKey: id)
            )
            return delivered != nil || refused != nil
        }
    }

    /// Whether the webhook has answered 410 with the settings that it has now.
    func isRefused(by webhook: Webhook) -> Bool {
        self.state.withLock { $0.refused[webhook.id] == webhook.fingerprint }
    }

    /// Records that the webhook has answered 410.
    func refuse(_ webhook: Webhook) {
        self.change { state in
            let before = state.refused.updateValue(webhook.fingerprint, forKey: webhook.id)
            return before != webhook.fingerprint
        }
    }

    /// Removes all webhooks that have answered 410, except those that have the same settings now.
    func keepRefusals(of webhooks: [Webhook]) {
        self.change { state in
            let kept = Set(webhooks.filter { state.refused[$0.id] == $0.fingerprint }.map(\.id))
            let gone = state.refused.keys.filter { !kept.contains($0) }
            for id in gone { (state.refused[id], state.delivered[id]) = (nil, nil) }
            return !gone.isEmpty
        }
    }

    /// Forgets that the webhook has answered 410.
    func accept(_ id: String) { self.change { $0.refused.removeValue(forKey: id) != nil } }

    /// Makes a change, and writes the file soon if there was one.
    private func change(_ body: (inout State) -> Bool) {
        let schedules = self.state.withLock { state in
            guard body(&state) else { return false }
            defer { state.isScheduled = true }
            return !state.isScheduled && self.directory != nil
        }
        if schedules { self.queue.async { self.write() } }
    }

    /// Writes pending changes to disk; stops waiting after two seconds if the disk hangs.
    func flush() {
        self.queue.run(waiting: 2) { self.write() }
    }

    private func write() {
        let (delivered, refused) = self.state.withLock { state in
            state.isScheduled = false
            return (state.delivered, state.refused)
        }
        guard let directory else { return }
        let (path, temporary) = ("\(directory)/\(Self.name)", "\(directory)/\(Self.temporaryName)")
        if delivered.isEmpty, refused.isEmpty {
            unlink(path)
            return
        }
        let lines =
            delivered.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)\n" }
            + refused.sorted { $0.key < $1.key }.map { "\($0.key) !\($0.value)\n" }
        let text = lines.joined()
        let file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }
        let isWhole = FileWriting.write(Array(text.utf8), to: file)
        close(file)
        if isWhole { rename(temporary, path) } else { unlink(temporary) }
    }
}
