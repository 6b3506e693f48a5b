import Libc
import Dispatch
import Threading
import Synchronization

/// Stores the room's events in a file, so that a successor continues the numbering, can answer late requests, and
/// delivers events that a killed worker had not delivered. The file is written on a queue of its own; if the disk does
/// not accept data, only lines of this file are lost.
///
/// There are two files, `events.jsonl` and the previous one; each ends with the write that makes it larger than
/// ``fileBytes``. Only their owner may read them, because events contain publishers' addresses.
package final class EventJournal: Sendable {
    package static let name = "events.jsonl"
    package static let earlierName = "events.1.jsonl"
    /// Size in bytes beyond which the file is renamed to ``earlierName`` and a new one is begun.
    package static let fileBytes = 4 << 20
    /// Maximum number of lines waiting for the disk.
    private static let waiting = 4096

    private struct State {
        var lines: [String] = []
        var isScheduled = false
    }

    private let directory: String
    private let queue = DispatchQueue(label: "events")
    private let state = Mutex(State())

    /// Makes a journal.
    ///
    /// - Parameter directory: Directory of the files; created with the first line if it does not exist.
    package init(directory: String) { self.directory = directory }

    /// Reads the events of earlier workers from the last 4 MiB of each file, the oldest first; incomplete lines are
    /// skipped.
    package static func read(directory: String) -> [EventRecord] {
        [Self.earlierName, Self.name].flatMap { name -> [EventRecord] in
            FileReading.tail(of: "\(directory)/\(name)", limit: EventLog.byteCapacity).split(separator: 0x0A).compactMap
            {
                EventLine.event(Array($0))
            }
        }
    }

    /// Queues an event for writing. Never blocks; the event is dropped if too many lines wait for the disk.
    package func append(_ event: EventRecord) {
        let schedules = self.state.withLock { state in
            guard state.lines.count < Self.waiting else { return false }
            state.lines.append(event.line)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if schedules { self.queue.async { self.write() } }
    }

    /// Writes pending lines to disk; stops waiting after two seconds if the disk hangs.
    package func flush() {
        self.queue.run(waiting: 2) { self.write() }
    }

    /// Writes pending lines. The file is open only meanwhile, so that the disk can be unmounted and the file moved
    /// while a room runs.
    private func write() {
        let lines = self.state.withLock { state in
            defer { (state.lines, state.isScheduled) = ([], false) }
            return state.lines
        }
        guard !lines.isEmpty else { return }
        mkdir(self.directory, 0o755)
        let path = "\(self.directory)/\(Self.name)"
        let file = Libc.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }
        // A worker killed while writing, or a full disk, may have left an incomplete line.
        let isCut = FileReading.tail(of: path, limit: 1).last.map { $0 != 0x0A } ?? false
        FileWriting.write(
            Array((isCut ? "\n" : "").utf8) + Array((lines.joined(separator: "\n") + "\n").utf8), to: file)
        let size = lseek(file, 0, SEEK_END)
        Libc.close(file)
        if size > Self.fileBytes { rename(path, "\(self.directory)/\(Self.earlierName)") }
    }
}
