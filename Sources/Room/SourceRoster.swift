import Dispatch
import MediaTypes
import Program
import Synchronization

/// The sources a room has by now: read by every thread, changed with the room's document.
///
/// A source's way: added → removed (nobody finds it any more) → departed (its thread has ended, its id is free).
final class SourceRoster: Sendable {
    private struct State {
        var slots: [SourceID: SourceSlot]
        /// How threads are started; `nil` before the room runs.
        var start: (@Sendable (SourceSlot) -> Void)?
        var isClosed = false
        /// Sources that are removed; signalled when they have departed.
        var leaving: [SourceID: DispatchSemaphore] = [:]
    }

    /// With whom sources are aligned by the world's time.
    let aligner: WallAligner
    private let state: Mutex<State>
    /// Where sources depart: it takes as long as a decoder takes for what it has in its hands.
    private let departures = DispatchQueue(label: "departures")

    init(_ slots: [SourceID: SourceSlot], aligner: WallAligner) {
        self.state = Mutex(State(slots: slots))
        self.aligner = aligner
    }

    var slots: [SourceID: SourceSlot] { self.state.withLock { $0.slots } }

    /// Starts the threads of all that are there, and of all that come.
    func start(_ start: @escaping @Sendable (SourceSlot) -> Void) {
        let slots = self.state.withLock { state -> [SourceSlot] in
            state.start = start
            return state.isClosed ? [] : Array(state.slots.values)
        }
        for slot in slots { start(slot) }
    }

    /// Ends the threads of all, those included that are leaving.
    func close() {
        let slots = self.state.withLock { state in
            state.isClosed = true
            return Array(state.slots.values)
        }
        for slot in slots { slot.decode.stop() }
        for slot in slots { slot.join() }
        self.departures.sync {}
    }

    /// A source is there from now on.
    func add(_ slot: SourceSlot) {
        self.state.withLock { state in
            guard !state.isClosed else { return }
            state.slots[slot.spec.id] = slot
            // Under the lock, so that who closes the roster sees its thread.
            state.start?(slot)
        }
    }

    /// Nobody finds the source any more, and nothing it says is heard; its id is taken until it has departed.
    ///
    /// - Returns: `nil`: there is none of that id.
    func remove(_ id: SourceID) -> SourceSlot? {
        let slot = self.state.withLock { state -> SourceSlot? in
            guard let slot = state.slots.removeValue(forKey: id) else { return nil }
            state.leaving[id] = DispatchSemaphore(value: 0)
            return slot
        }
        slot?.silence()
        return slot
    }

    /// Does what is left to do for a source that was removed, one after the other, and waits for its thread.
    ///
    /// - Parameters:
    ///   - work: Done while its thread may still run.
    ///   - rest: Done behind its thread, which brings nothing back any more.
    ///   - last: Done when its id is free.
    func depart(
        _ slot: SourceSlot, _ work: @escaping @Sendable () -> Void, rest: @escaping @Sendable () -> Void,
        last: @escaping @Sendable () -> Void
    ) {
        self.departures.async {
            work()
            slot.decode.stop()
            slot.join()
            rest()
            let departed = self.state.withLock { $0.leaving.removeValue(forKey: slot.spec.id) }
            departed?.signal()
            last()
        }
    }

    /// Blocks until no source of that id is leaving, at most so long.
    ///
    /// - Returns: Whether the id is free.
    func isFree(_ id: SourceID, within milliseconds: Int) -> Bool {
        guard let departing = self.state.withLock({ $0.leaving[id] }) else { return true }
        guard departing.wait(timeout: .now() + .milliseconds(milliseconds)) == .success else { return false }
        departing.signal()
        return true
    }
}
