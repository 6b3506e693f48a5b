#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif
import Dispatch
import Stages
import Synchronization

/// The room's events in a file, so that a successor numbers on, tells what was asked for late, and delivers what a killed worker
/// had not. Written by a queue of its own; a disk that takes nothing costs lines of this file and nothing else.
///
/// Two files, `events.jsonl` and the one before it, at most ``fileBytes`` each, readable by their owner only: events say where
/// publishers are.
package final class EventJournal: Sendable {
    package static let name = "events.jsonl"
    package static let earlierName = "events.1.jsonl"
    /// A file that has grown beyond this gives way to a new one.
    package static let fileBytes = 4 << 20
    /// Lines that may wait for the disk.
    private static let waiting = 4096

    private struct State {
        var lines: [String] = []
        var isScheduled = false
    }

    private let directory: String
    private let queue = DispatchQueue(label: "events")
    private let state = Mutex(State())

    /// - Parameter directory: Made when it is not there, at the first line.
    package init(directory: String) { self.directory = directory }

    /// What earlier workers told, the oldest first; lines that are not whole events are left out.
    package static func read(directory: String) -> [EventRecord] {
        [Self.earlierName, Self.name].flatMap { name -> [EventRecord] in
            WholeRead.tail(of: "\(directory)/\(name)", limit: EventLog.byteCapacity).split(separator: 0x0A).compactMap {
                EventLine.event(Array($0))
            }
        }
    }

    /// Takes one event. Never blocks.
    package func append(_ event: EventRecord) {
        let schedules = self.state.withLock { state in
            guard state.lines.count < Self.waiting else { return false }
            state.lines.append(event.line)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if schedules { self.queue.async { self.write() } }
    }

    /// Writes what waits, unless the disk hangs.
    package func flush() {
        let done = DispatchSemaphore(value: 0)
        self.queue.async {
            self.write()
            done.signal()
        }
        _ = done.wait(timeout: .now() + 2)
    }

    /// The file is open no longer than it takes: a disk can be unmounted, and the file taken away, while a room runs.
    private func write() {
        let lines = self.state.withLock { state in
            defer { (state.lines, state.isScheduled) = ([], false) }
            return state.lines
        }
        guard !lines.isEmpty else { return }
        mkdir(self.directory, 0o755)
        let path = "\(self.directory)/\(Self.name)"
        let file = Glibc.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }
        // A worker that was killed while it wrote, or a disk that was full, has left a line without its end.
        let isCut = WholeRead.tail(of: path, limit: 1).last.map { $0 != 0x0A } ?? false
        WholeWrite.write(Array((isCut ? "\n" : "").utf8) + Array((lines.joined(separator: "\n") + "\n").utf8), to: file)
        let size = lseek(file, 0, SEEK_END)
        Glibc.close(file)
        if size > Self.fileBytes { rename(path, "\(self.directory)/\(Self.earlierName)") }
    }
}
