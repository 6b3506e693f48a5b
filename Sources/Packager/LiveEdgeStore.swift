import Dispatch
import HLS
import MediaKernels
import MediaTypes
import Synchronization

/// Stores the parts at the live edge for the next worker before viewers see them.
///
/// The live edge must not wait for a slow store, so ``keep(_:_:_:)`` waits at most ``HLSOutputSettings/storePatience``
/// for the record. After a timeout it does not wait for a record again until the store has finished all pending writes.
/// Parts that are not stored yet are lost if the worker dies; the ``LiveEdgeMark``, for which ``keep(_:_:_:)`` waits as
/// long again, then tells the next worker which segments and parts viewers know.
final class LiveEdgeStore: Sendable {
    private struct State {
        /// Number of unfinished writes.
        var pending = 0
        /// Whether a wait timed out and the store has not caught up since.
        var isSlow = false
        /// Names of objects that are in the store or being written.
        var names: Set<String>
        /// Number of records so far.
        var count = 0
        /// Number of the newest record that is in the store.
        var written = 0
        /// The values of ``LiveEdgeRecord/promised`` in the newest record.
        var promised: [Int64] = []
        /// Parts and initialization segments of the newest record that are not in the store yet, by name.
        var unwritten: [String: PacketMemory] = [:]
        /// The newest mark that has not been written; `nil` if there is none.
        var mark: LiveEdgeMark?
        /// Whether a mark is being written.
        var isMarking = false
    }

    /// Maximum number of pending writes of records, for a store that hangs; beyond it only marks are written.
    private static let mostPending = 8

    private let store: any SegmentStore
    private let clock: any MonotonicClock
    /// Maximum wait in nanoseconds for a record, and again for a mark.
    private let patience: Int64
    private let state: Mutex<State>
    // A serial queue writes in the order of the parts. It is idle most of the time, so it needs no thread of its own.
    private let queue = DispatchQueue(label: "keep-edge")
    // Marks have their own queue, because the other queue may hang.
    private let marks = DispatchQueue(label: "mark-edge")

    /// Makes a store for the live edge of one worker's run.
    ///
    /// - Parameters:
    ///   - names: Names of the objects that the previous worker stored, to be removed when they are no longer needed.
    ///   - incarnation: Incarnation of this worker.
    init(
        store: any SegmentStore, clock: any MonotonicClock, patience: Int64, names: Set<String>, incarnation: Int64
    ) {
        self.store = store
        self.clock = clock
        self.patience = patience
        self.state = Mutex(State(names: names))
        // The mark file is created early, while there is disk space. An existing file stays until this worker has a
        // mark to write: it may name segments that are not in the state file yet.
        let mark = LiveEdgeMark(incarnation: incarnation, tracks: [])
        self.marks.async {
            guard !store.contains(LiveEdgeMark.name), let bytes = mark.bytes else { return }
            try? store.overwrite(LiveEdgeMark.name, bytes)
        }
    }

    /// Stores `record` for the next worker, with the parts and initialization segments among `objects`.
    ///
    /// - Parameter mark: The segments and parts listed after this update; written if the record is not stored in time.
    func keep(_ record: LiveEdgeRecord, _ objects: [LiveEdgeUpdate.Object], _ mark: @autoclosure () -> LiveEdgeMark) {
        let names = record.names
        func isNamed(_ object: String) -> Bool {
            names.contains(object) || record.tracks.contains { $0.map == object }
        }
        var added: [(name: String, memory: PacketMemory)] = []
        for object in objects where isNamed(object.name) {
            if case .whole(let memory) = object.content { added.append((object.name, memory)) }
        }
        let promised = record.promised
        let (number, isNews, work) = self.state.withLock { state -> (Int, Bool, (waits: Bool, removed: Set<String>)?) in
            state.count += 1
            let isNews = !added.isEmpty || zip(promised, state.promised).contains { $0 > $1 }
            state.promised = promised
            if !state.unwritten.isEmpty { state.unwritten = state.unwritten.filter { isNamed($0.key) } }
            for object in added { state.unwritten[object.name] = object.memory }
            guard state.pending < Self.mostPending else { return (state.count, isNews, nil) }
            state.pending += 1
            defer { state.names = names }
            return (state.count, isNews, (!state.isSlow && isNews, state.names.subtracting(names)))
        }
        if let work { self.write(record, work, number) }
        if isNews, self.state.withLock({ $0.written < number }) { self.write(mark()) }
    }

    /// Starts to write a record and, if asked to, waits until it is written, but at most ``patience`` nanoseconds.
    private func write(_ record: LiveEdgeRecord, _ work: (waits: Bool, removed: Set<String>), _ number: Int) {
        let (since, done) = (self.clock.now(), DispatchSemaphore(value: 0))
        self.queue.async {
            // If this process was stopped in the meantime, a newer worker may own the file by now.
            let isWritten = self.clock.now() &- since < HLSPackager.longestPause && self.write(record, work.removed)
            self.state.withLock { state in
                if isWritten { state.written = number }
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

    /// Writes a record and its objects.
    ///
    /// - Returns: Whether the store has the whole record.
    private func write(_ record: LiveEdgeRecord, _ removed: Set<String>) -> Bool {
        defer { for name in removed { try? self.store.remove(name) } }
        do {
            for object in self.state.withLock(\.unwritten).sorted(by: { $0.key < $1.key }) {
                try self.store.put(object.key, [object.value], durable: false)
                self.state.withLock { $0.unwritten[object.key] = nil }
            }
            try self.store.put(LiveEdgeRecord.name, bytes: Array(record.json.utf8))
            return true
        } catch {
            // The error is reported when segments cannot be written either; the next worker continues without these
            // parts.
            return false
        }
    }

    /// Writes a mark and waits until it is written, but at most ``patience`` nanoseconds. Does not wait if another mark
    /// is being written; this mark then follows it.
    private func write(_ mark: LiveEdgeMark) {
        let isFree = self.state.withLock { state in
            state.mark = mark
            defer { state.isMarking = true }
            return !state.isMarking
        }
        guard isFree else { return }
        let (since, done) = (self.clock.now(), DispatchSemaphore(value: 0))
        self.marks.async {
            while let next = self.nextMark() {
                guard self.clock.now() &- since < HLSPackager.longestPause else { continue }
                if let bytes = next.bytes { try? self.store.overwrite(LiveEdgeMark.name, bytes) }
            }
            done.signal()
        }
        _ = done.wait(timeout: .now() + .nanoseconds(Int(clamping: self.patience)))
    }

    private func nextMark() -> LiveEdgeMark? {
        self.state.withLock { state in
            state.isMarking = state.mark != nil
            return state.mark.take()
        }
    }

    /// Removes what was stored for the next worker (the record of the live edge, its mark and its parts), because the
    /// room has ended and no worker continues it.
    func removeAll() {
        let names = self.state.withLock { state in
            defer { state.names = [] }
            return state.names
        }
        self.marks.sync {}
        self.queue.async {
            for name in [LiveEdgeRecord.name, LiveEdgeMark.name] + names { try? self.store.remove(name) }
        }
        self.settle()
    }

    /// Waits until all pending writes are finished.
    func settle() {
        self.marks.sync {}
        self.queue.sync {}
    }
}
