import Dispatch
import HLS
import MediaKernels
import MediaTypes
import Synchronization

/// Writes the parts at the live edge down for a successor, before viewers are told of them.
///
/// The live edge waits for no store: whoever keeps a part waits for it ``HLSOutputSettings/storePatience`` at most, once, and
/// no more until the store has done all it was asked to. Parts that it could not take in time are lost with the worker.
final class EdgeKeeper: Sendable {
    private struct State {
        /// Writes that are not done.
        var pending = 0
        /// It was waited for in vain, and has not caught up.
        var isSlow = false
        /// Objects that are there, or soon.
        var names: Set<String>
    }

    /// Writes that may wait for a store that hangs.
    private static let mostPending = 8

    private let store: any SegmentStore
    private let clock: any MonotonicClock
    /// Nanoseconds.
    private let patience: Int64
    private let state: Mutex<State>
    // One writer, in the order of the parts; a thread of its own would sleep for half a second at a time.
    private let queue = DispatchQueue(label: "keep-edge")

    /// - Parameter names: What the worker before has kept, to be removed once it is not needed any more.
    init(store: any SegmentStore, clock: any MonotonicClock, patience: Int64, names: Set<String>) {
        self.store = store
        self.clock = clock
        self.patience = patience
        self.state = Mutex(State(names: names))
    }

    /// Makes `record` what a successor finds, with the parts among `objects`.
    func keep(_ record: EdgeRecord, _ objects: [LiveUpdate.Object]) {
        let names = record.names
        var added: [(name: String, memory: PacketMemory)] = []
        for object in objects where names.contains(object.name) {
            if case .whole(let memory) = object.content { added.append((object.name, memory)) }
        }
        let work = self.state.withLock { state -> (waits: Bool, removed: Set<String>)? in
            guard state.pending < Self.mostPending else { return nil }
            state.pending += 1
            defer { state.names = names }
            return (!state.isSlow && !added.isEmpty, state.names.subtracting(names))
        }
        guard let work else { return }
        let (since, parts, done) = (self.clock.now(), added, DispatchSemaphore(value: 0))
        self.queue.async {
            // Who was stopped in between may have a successor by now, whose file this is then.
            if self.clock.now() &- since < HLSPackager.longestPause { self.write(record, parts, work.removed) }
            self.state.withLock { state in
                state.pending -= 1
                if state.pending == 0 { state.isSlow = false }
            }
            done.signal()
        }
        guard work.waits else { return }
        if done.wait(timeout: .now() + .nanoseconds(Int(clamping: self.patience))) == .timedOut {
            self.state.withLock { $0.isSlow = $0.pending > 0 }
        }
    }

    private func write(
        _ record: EdgeRecord, _ parts: [(name: String, memory: PacketMemory)], _ removed: Set<String>
    ) {
        do {
            for part in parts { try self.store.put(part.name, [part.memory], durable: false) }
            try self.store.put(EdgeRecord.name, bytes: Array(record.json.utf8))
        } catch {
            // The segments tell of a store that fails; a successor does without the parts.
        }
        for name in removed { try? self.store.remove(name) }
    }

    /// Nobody continues the room: takes everything away.
    func removeAll() {
        let names = self.state.withLock { state in
            defer { state.names = [] }
            return state.names
        }
        self.queue.async {
            try? self.store.remove(EdgeRecord.name)
            for name in names { try? self.store.remove(name) }
        }
        self.settle()
    }

    /// Returns once everything is written.
    func settle() { self.queue.sync {} }
}
