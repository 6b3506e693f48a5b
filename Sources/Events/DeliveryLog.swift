import Libc
import Dispatch
import Threading
import Synchronization

/// Stores the number of the last event that each webhook has received or that was skipped for it, in a file next to the
/// journal, so that a successor continues there. After a worker is killed, an event may be sent twice.
package final class DeliveryLog: Sendable {
    package static let name = "events.delivered"

    private struct State {
        var delivered: [String: Int64]
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
        if let directory {
            let text = FileReading.tail(of: "\(directory)/\(Self.name)", limit: 64 << 10)
            for line in String(decoding: text, as: UTF8.self).split(separator: "\n").prefix(1024) {
                let fields = line.split(separator: " ")
                guard fields.count == 2, let sequence = Int64(fields[1]), sequence >= 0 else { continue }
                delivered[String(fields[0])] = sequence
            }
        }
        self.state = Mutex(State(delivered: delivered))
    }

    /// Returns the number of the last event that a webhook has received or that was skipped for it; `nil` if none is
    /// stored.
    func delivered(to id: String) -> Int64? { self.state.withLock { $0.delivered[id] } }

    func set(_ sequence: Int64, for id: String) { self.change(id, sequence) }

    /// Removes a webhook. If it is added again, it is treated as new.
    func forget(_ id: String) { self.change(id, nil) }

    private func change(_ id: String, _ sequence: Int64?) {
        let schedules = self.state.withLock { state in
            guard state.delivered[id] != sequence else { return false }
            state.delivered[id] = sequence
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
        let delivered = self.state.withLock { state in
            state.isScheduled = false
            return state.delivered
        }
        guard let directory else { return }
        let (path, temporary) = ("\(directory)/\(Self.name)", "\(directory)/\(Self.name).new")
        if delivered.isEmpty {
            unlink(path)
            return
        }
        let text = delivered.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)\n" }.joined()
        let file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }
        let isWhole = FileWriting.write(Array(text.utf8), to: file)
        close(file)
        if isWhole { rename(temporary, path) } else { unlink(temporary) }
    }
}
