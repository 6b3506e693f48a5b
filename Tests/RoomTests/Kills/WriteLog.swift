import Dispatch
import Foundation
import Packager
import Synchronization

/// Records the directory after each step in which a room writes `commands.json`.
final class WriteLog: Sendable {
    /// The directory after one step.
    struct Snapshot: Sendable {
        var step: WriteStep
        /// Number of commands sent, and of the leading ones answered as durable.
        var sent: Int
        var durable: Int
        /// Content of `commands.json`; nil: it does not exist.
        var content: [UInt8]?
        /// Names of files in the directory that contain `commands.json`.
        var names: [String]
    }

    private struct State {
        var snapshots: [Snapshot] = []
        var sent = 0
        var durable = 0
    }

    private let directory: String
    private let state = Mutex(State())

    init(_ directory: String) { self.directory = directory }

    func noteSent(_ count: Int) { self.state.withLock { $0.sent = count } }
    func noteDurable(_ count: Int) { self.state.withLock { $0.durable = count } }
    var snapshots: [Snapshot] { self.state.withLock { $0.snapshots } }

    /// The current content of `commands.json`.
    var content: [UInt8]? { DirectoryStore(directory: self.directory).read("commands.json") }

    func record(_ step: WriteStep) {
        let content = self.content
        let names = (try? FileManager.default.contentsOfDirectory(atPath: self.directory)) ?? []
        self.state.withLock { state in
            state.snapshots.append(
                Snapshot(
                    step: step, sent: state.sent, durable: state.durable, content: content,
                    names: names.filter { $0.contains("commands.json") }.sorted()))
        }
    }
}

/// Stops the thread that writes `commands.json` after a step, as if the process had been killed there.
final class WriteStop: Sendable {
    private let armed = Mutex<WriteStep?>(nil)
    private let stopped = Mutex(false)
    private let never = DispatchSemaphore(value: 0)

    func arm(_ step: WriteStep) { self.armed.withLock { $0 = step } }

    var hasStopped: Bool { self.stopped.withLock { $0 } }

    func reach(_ step: WriteStep) {
        guard self.armed.withLock({ $0 == step }) else { return }
        self.stopped.withLock { $0 = true }
        // No test takes this long; its room is abandoned.
        _ = self.never.wait(timeout: .now() + 3 * TestClock.patience)
    }
}
