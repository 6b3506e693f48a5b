package import DequeModule
package import MediaTypes
import Synchronization

/// Queue of a source's coded video frames with program timestamps, for passthrough. The source's decode thread writes
/// it, the program thread reads it.
package final class CodedFrameQueue: Sendable {
    private struct State {
        var isOpen = false
        var items = Deque<ProgramPacket>()
        /// The last coding parameters, which are queued again after an overflow.
        var parameters: CodecParameters?
    }

    /// Number of waiting items at which all are discarded: about 30 seconds at 60 frames per second.
    private static let limit = 2_048

    private let state = Mutex(State())

    package init() {}

    /// Opens the queue: from now on, items are kept until ``takeAll()``. Call it before the source's thread runs.
    package func open() { self.state.withLock { $0.isOpen = true } }

    func put(_ item: ProgramPacket) {
        self.state.withLock { state in
            guard state.isOpen else { return }
            if case .configuration(let parameters) = item { state.parameters = parameters }
            if state.items.count >= Self.limit {
                // The reader has stopped taking items: discard them, so that a later reader finds the beginning of a
                // publication.
                state.items.removeAll()
                state.items.append(.end)
                if let parameters = state.parameters { state.items.append(.configuration(parameters)) }
            }
            state.items.append(item)
        }
    }

    /// Removes and returns all waiting items, oldest first.
    package func takeAll() -> Deque<ProgramPacket> {
        self.state.withLock { state in
            guard !state.items.isEmpty else { return [] }
            defer { state.items.removeAll(keepingCapacity: true) }
            return state.items
        }
    }
}
