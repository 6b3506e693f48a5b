package import Control
import Dispatch
package import MediaTypes
import Packager
package import PipelineSpec
package import Threading
import Synchronization

/// The file that ``CommandStore`` reads, writes and removes.
package protocol CommandPlace: Sendable {
    func read() -> [UInt8]?
    /// Atomically replaces the content of the file by `bytes` and syncs it to disk. Blocks.
    ///
    /// - Throws: ``MediaError/Code/superseded`` if another worker has claimed the room (then nothing was written), or
    ///   the error of a failed write.
    func write(_ bytes: [UInt8]) throws(MediaError)
    func remove() throws(MediaError)
    /// Removes the copy that was set aside because it could not be restored. The copy may contain secrets too.
    func removeAside() throws(MediaError)
}

extension ClaimedFile: CommandPlace {
    package func removeAside() throws(MediaError) { try self.beside(Resumption.asideSuffix).remove() }
}

/// Keeps ``CommandedState`` on disk. One thread always writes the newest state, so commands that arrive together share
/// a write.
///
/// Changing the state never waits for the disk. A caller that needs to know when a change is durable is called back,
/// after ``patience`` at the latest.
package final class CommandStore: Sendable {
    /// How soon a change must be written.
    package enum Urgency: Sendable {
        /// The change is written as soon as possible; the reply to a command may wait for it.
        case now
        /// The write waits for ``coalescing``, so that it includes later changes.
        case soon
    }

    fileprivate struct Waiter {
        var number: UInt64
        var sequence: UInt64
        var answer: @Sendable (CommandDurability) -> Void
    }

    fileprivate struct State {
        var value: CommandedState
        /// The pipeline file as it was last applied; the hashes in the state are computed from it.
        var file: RoomDocument?
        /// Number of changes so far.
        var sequence: UInt64 = 0
        /// Number of the last change with ``Urgency/now``.
        var urgent: UInt64 = 0
        /// Number of the last change that is on disk.
        var written: UInt64 = 0
        /// When the next write is due; nil if nothing is to be written.
        var dueAt: Int64?
        /// When the first of the changes that the next write covers was made; nil if nothing is to be written.
        var changedAt: Int64?
        var retryAt: Int64?
        var retryDelay = CommandStore.firstRetry
        var waiters: [Waiter] = []
        var lastWaiter: UInt64 = 0
        /// Number of commands in progress; see ``CommandStore/begin()``.
        var running = 0
        var failure: MediaError?
        var isLate = false
        var isSuperseded = false
        var isClosed = false
        /// Whether the room has ended, so that no worker restores the state.
        var isDiscarded = false
        /// The writer thread; nil before ``CommandStore/start()``, and after ``CommandStore/close(within:)`` has begun
        /// to wait for it.
        var thread: StageThread?
    }

    fileprivate enum Step {
        case write(CommandedState, RoomDocument?, UInt64)
        /// The writer thread waits this many nanoseconds; nil means until something changes.
        case wait(Int64?)
        case stop
    }

    /// Longest time that a reply waits for its change to be on disk, in milliseconds.
    package static let patience = 250
    /// How long changes of ``Urgency/soon``, such as those of scores, texts and volumes, are collected before a write, in
    /// nanoseconds.
    package static let coalescing: Int64 = 100_000_000
    /// Longest time that a write waits for commands in progress to end, in nanoseconds.
    private static let longestHold: Int64 = 50_000_000
    fileprivate static let firstRetry: Int64 = 50_000_000
    private static let longestRetry: Int64 = 1_000_000_000

    private let place: any CommandPlace
    private let clock: any SleepClock
    private let superseded: @Sendable () -> Void
    private let state: Mutex<State>
    private let wake: any ClockSemaphore
    private let timers = DispatchQueue(label: "commands")

    /// - Parameters:
    ///   - file: The document of the pipeline file, whose hashes are saved; see ``CommandedState/hashes(of:)``.
    ///   - superseded: Called on the writer thread, at most once: when a write finds that another worker has claimed the
    ///     room.
    package init(
        _ value: CommandedState, file: RoomDocument?, place: any CommandPlace,
        clock: any SleepClock, superseded: @escaping @Sendable () -> Void = {}
    ) {
        self.state = Mutex(State(value: value, file: file))
        self.place = place
        self.clock = clock
        self.wake = clock.makeSemaphore()
        self.superseded = superseded
    }

    /// Starts the writer thread. Called once.
    package func start() {
        let thread = StageThread("commands") { self.run() }
        self.state.withLock { $0.thread = thread }
    }

    package var value: CommandedState { self.state.withLock { $0.value } }

    /// Why the last commands are not on disk; nil if they are, if they are expected to be soon, or if another worker has
    /// claimed the room.
    package var problem: String? {
        self.state.withLock { state in
            if state.isSuperseded { return nil }
            if let failure = state.failure { return failure.what }
            return state.isLate ? "the last commands could not be written within \(Self.patience) ms" : nil
        }
    }

    // MARK: Changes

    /// Changes the state, and schedules its write if it has become different. Does not wait for the disk.
    package func update(_ urgency: Urgency, _ change: (inout CommandedState) -> Void) {
        let now = self.clock.now()
        self.state.withLock { state in
            let before = state.value
            change(&state.value)
            guard state.value != before else { return }
            state.changed(urgency, now)
        }
        self.wake.signal()
    }

    /// Sets the version of the pipeline file that is in use from now on.
    package func setFile(_ file: RoomDocument?) {
        let now = self.clock.now()
        self.state.withLock { state in
            state.file = file
            if !state.value.isPlain { state.changed(.soon, now) }
        }
        self.wake.signal()
    }

    /// Schedules another write of the state, because the file may have been lost together with its directory. Does
    /// nothing if there is nothing to restore.
    package func rewrite() {
        let now = self.clock.now()
        self.state.withLock { state in if !state.value.isPlain { state.changed(.now, now) } }
        self.wake.signal()
    }

    /// Announces a command that is about to be carried out. A write waits for ``end(waits:_:)`` so that it contains all
    /// changes of the command, but 50 ms at most.
    package func begin() { self.state.withLock { $0.running += 1 } }

    /// Ends the command announced by ``begin()``, and calls back when all urgent changes so far are on disk, or after
    /// ``patience``. After ``close(within:)``, the result is ``CommandDurability/late`` at once if they are not on disk.
    ///
    /// - Parameters:
    ///   - waits: If false, then `answer` is called at once, with ``CommandDurability/durable`` unless another worker has
    ///     claimed the room.
    ///   - answer: Called once with the result; on the calling thread if there is nothing to wait for.
    package func end(waits: Bool = true, _ answer: @escaping @Sendable (CommandDurability) -> Void) {
        let now: CommandDurability?
        let number: UInt64
        (now, number) = self.state.withLock { state in
            state.running -= 1
            if state.isSuperseded { return (.superseded, 0) }
            guard waits, !state.isDiscarded, state.urgent > state.written else { return (.durable, 0) }
            if state.isClosed { return (.late, 0) }
            state.lastWaiter += 1
            state.waiters.append(Waiter(number: state.lastWaiter, sequence: state.urgent, answer: answer))
            return (nil, state.lastWaiter)
        }
        self.wake.signal()
        if let now { return answer(now) }
        self.timers.asyncAfter(deadline: .now() + .milliseconds(Self.patience)) { self.expire(number) }
    }

    private func expire(_ number: UInt64) {
        let waiter = self.state.withLock { state -> Waiter? in
            guard let index = state.waiters.firstIndex(where: { $0.number == number }) else { return nil }
            state.isLate = true
            return state.waiters.remove(at: index)
        }
        waiter?.answer(.late)
    }

    // MARK: The end

    /// Makes at most one more attempt to write pending changes, and stops the writer thread.
    ///
    /// - Parameter nanoseconds: Longest time to wait for the thread.
    package func close(within nanoseconds: Int64) {
        self.state.withLock { $0.isClosed = true }
        self.wake.signal()
        let thread = self.state.withLock { $0.thread.take() }
        _ = thread?.join(within: nanoseconds)
    }

    /// Stops the writer thread after the end of the room, when nothing must be restored, and removes the file and the
    /// copy that was set aside.
    package func discard(within nanoseconds: Int64) {
        self.state.withLock { state in
            state.isDiscarded = true
            state.written = state.sequence
            state.dueAt = nil
        }
        self.close(within: nanoseconds)
        try? self.place.remove()
        try? self.place.removeAside()
    }

    // MARK: The writer thread

    private func run() {
        while true {
            switch self.next() {
            case .stop: return
            case .wait(let time): self.wake.wait(for: time)
            case .write(var value, let file, let sequence):
                value.fileMembers = file.map { value.hashes(of: $0) } ?? [:]
                do throws(MediaError) {
                    try self.place.write(value.bytes)
                    self.wrote(sequence)
                } catch {
                    self.failed(error)
                }
            }
        }
    }

    private func next() -> Step {
        let now = self.clock.now()
        return self.state.withLock { state in
            if state.isSuperseded { return .stop }
            guard state.sequence > state.written, let due = state.dueAt else {
                return state.isClosed ? .stop : .wait(nil)
            }
            if state.isClosed {
                // A closed store makes at most one more attempt to write: a failing disk must not delay the room's end.
                if let retry = state.retryAt, now < retry { return .stop }
                return state.beginWrite()
            }
            var start = max(due, state.retryAt ?? due)
            if state.running > 0 { start = max(start, (state.changedAt ?? now) &+ Self.longestHold) }
            return now >= start ? state.beginWrite() : .wait(start &- now)
        }
    }

    private func wrote(_ sequence: UInt64) {
        let answers = self.state.withLock { state -> [Waiter] in
            state.written = max(state.written, sequence)
            (state.failure, state.retryAt, state.retryDelay) = (nil, nil, Self.firstRetry)
            if state.urgent <= state.written { state.isLate = false }
            let done = state.waiters.filter { $0.sequence <= sequence }
            state.waiters.removeAll { $0.sequence <= sequence }
            return done
        }
        for waiter in answers { waiter.answer(.durable) }
    }

    private func failed(_ error: MediaError) {
        let now = self.clock.now()
        let answers = self.state.withLock { state -> [Waiter] in
            guard error.code == .superseded else {
                state.failure = error
                (state.dueAt, state.changedAt) = (state.dueAt ?? now, state.changedAt ?? now)
                state.retryAt = now &+ state.retryDelay
                state.retryDelay = min(Self.longestRetry, state.retryDelay * 2)
                return []
            }
            state.isSuperseded = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in answers { waiter.answer(.superseded) }
        if error.code == .superseded { self.superseded() }
    }
}

extension CommandStore.State {
    fileprivate mutating func changed(_ urgency: CommandStore.Urgency, _ now: Int64) {
        self.sequence += 1
        if urgency == .now { self.urgent = self.sequence }
        let due = urgency == .now ? now : now &+ CommandStore.coalescing
        self.dueAt = min(self.dueAt ?? due, due)
        self.changedAt = self.changedAt ?? now
    }

    /// Takes the current state for a write. Later changes belong to the next write.
    fileprivate mutating func beginWrite() -> CommandStore.Step {
        (self.dueAt, self.changedAt) = (nil, nil)
        return .write(self.value, self.file, self.sequence)
    }
}
