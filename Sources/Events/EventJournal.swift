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
        var file: Int32 = -1
        var bytes = 0
    }

    private let directory: String
    private let queue = DispatchQueue(label: "events")
    private let state = Mutex(State())

    /// - Parameter directory: Made when it is not there, at the first line.
    package init(directory: String) { self.directory = directory }

    deinit {
        let file = self.state.withLock(\.file)
        if file >= 0 { Glibc.close(file) }
    }

    /// What earlier workers told, the oldest first; lines that are not whole events are left out.
    package static func read(directory: String) -> [RoomEvent] {
        [Self.earlierName, Self.name].flatMap { name -> [RoomEvent] in
            WholeRead.tail(of: "\(directory)/\(name)", limit: EventLog.byteCapacity).split(separator: 0x0A).compactMap {
                EventLine.event(Array($0))
            }
        }
    }

    /// Takes one event. Never blocks.
    package func append(_ event: RoomEvent) {
        let schedules = self.state.withLock { state in
            guard state.lines.count < Self.waiting else { return false }
            state.lines.append(event.line)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if schedules { self.queue.async { self.write() } }
    }

    /// Writes what waits.
    package func flush() { self.queue.sync { self.write() } }

    private func write() {
        let (lines, file) = self.state.withLock { state in
            defer { (state.lines, state.isScheduled) = ([], false) }
            return (state.lines, state.file)
        }
        guard !lines.isEmpty else { return }
        let open = file >= 0 ? file : self.open()
        guard open >= 0 else { return }
        let bytes = Array((lines.joined(separator: "\n") + "\n").utf8)
        WholeWrite.write(bytes, to: open)
        let isFull = self.state.withLock { state in
            state.bytes += bytes.count
            return state.bytes > Self.fileBytes
        }
        if isFull { self.turn(open) }
    }

    private func open() -> Int32 {
        mkdir(self.directory, 0o755)
        let file = Glibc.open("\(self.directory)/\(Self.name)", O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { return file }
        let size = lseek(file, 0, SEEK_END)
        // A worker that was killed while it wrote has left a line without its end.
        if size > 0 { WholeWrite.write([0x0A], to: file) }
        self.state.withLock { state in (state.file, state.bytes) = (file, Int(clamping: size)) }
        return file
    }

    private func turn(_ file: Int32) {
        rename("\(self.directory)/\(Self.name)", "\(self.directory)/\(Self.earlierName)")
        Glibc.close(file)
        self.state.withLock { $0.file = -1 }
    }
}
