import Dispatch
import HLS
import MediaKernels
import MediaTypes
import Synchronization

/// Writes the parts at the live edge down for a successor, before viewers are told of them.
///
/// The live edge waits for no store: whoever keeps a part waits for it ``HLSOutputSettings/storePatience`` at most, once, and
/// no more until the store has done all it was asked to. Parts that it could not take in time are lost with the worker; the
/// ``EdgeMark`` then tells a successor which numbers viewers know.
final class EdgeKeeper: Sendable {
    private struct State {
        /// Writes that are not done.
        var pending = 0
        /// It was waited for in vain, and has not caught up.
        var isSlow = false
        /// Objects that are there, or soon.
        var names: Set<String>
        /// Records so far, and the newest that the store has.
        var count = 0
        var written = 0
        /// See ``EdgeRecord/promised``.
        var promised: [Int64] = []
        /// Their objects that the store has not taken.
        var unwritten: [String: PacketMemory] = [:]
        /// The newest that is to be written.
        var mark: EdgeMark?
        var isMarking = false
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
    // Beside the other one, which may hang.
    private let marks = DispatchQueue(label: "mark-edge")

    /// - Parameters:
    ///   - names: What the worker before has kept, to be removed once it is not needed any more.
    ///   - incarnation: This worker's.
    init(
        store: any SegmentStore, clock: any MonotonicClock, patience: Int64, names: Set<String>, incarnation: Int64
    ) {
        self.store = store
        self.clock = clock
        self.patience = patience
        self.state = Mutex(State(names: names))
        // While there is space for it. One that is there stays until this worker has more to say: what it names may not be in the
        // state file yet.
        let mark = EdgeMark(incarnation: incarnation, tracks: [])
        self.marks.async {
            guard !store.contains(EdgeMark.name), let bytes = mark.bytes else { return }
            try? store.overwrite(EdgeMark.name, bytes)
        }
    }

    /// Makes `record` what a successor finds, with the parts and the initialization segments among `objects`.
    ///
    /// - Parameter mark: How far viewers are shown the edge after this: what is written where the record is not.
    func keep(_ record: EdgeRecord, _ objects: [LiveUpdate.Object], _ mark: @autoclosure () -> EdgeMark) {
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

    /// Waits until it is written, where that does not take too long.
    private func write(_ record: EdgeRecord, _ work: (waits: Bool, removed: Set<String>), _ number: Int) {
        let (since, done) = (self.clock.now(), DispatchSemaphore(value: 0))
        self.queue.async {
            // Who was stopped in between may have a successor by now, whose file this is then.
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

    /// - Returns: Whether the store has all of it.
    private func write(_ record: EdgeRecord, _ removed: Set<String>) -> Bool {
        defer { for name in removed { try? self.store.remove(name) } }
        do {
            for object in self.state.withLock(\.unwritten).sorted(by: { $0.key < $1.key }) {
                try self.store.put(object.key, [object.value], durable: false)
                self.state.withLock { $0.unwritten[object.key] = nil }
            }
            try self.store.put(EdgeRecord.name, bytes: Array(record.json.utf8))
            return true
        } catch {
            // The segments tell of a store that fails; a successor does without the parts.
            return false
        }
    }

    /// Waits as long for a mark, and for none while another is being written.
    private func write(_ mark: EdgeMark) {
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
                if let bytes = next.bytes { try? self.store.overwrite(EdgeMark.name, bytes) }
            }
            done.signal()
        }
        _ = done.wait(timeout: .now() + .nanoseconds(Int(clamping: self.patience)))
    }

    private func nextMark() -> EdgeMark? {
        self.state.withLock { state in
            state.isMarking = state.mark != nil
            return state.mark.take()
        }
    }

    /// Nobody continues the room: takes everything away.
    func removeAll() {
        let names = self.state.withLock { state in
            defer { state.names = [] }
            return state.names
        }
        self.marks.sync {}
        self.queue.async {
            for name in [EdgeRecord.name, EdgeMark.name] + names { try? self.store.remove(name) }
        }
        self.settle()
    }

    /// Returns once everything is written.
    func settle() {
        self.marks.sync {}
        self.queue.sync {}
    }
}
