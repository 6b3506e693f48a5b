package import DequeModule
package import MediaTypes
import Synchronization

/// A source's coded video frames on program time, parallel to its decoder: written by its decode thread, read by the
/// program's.
package final class CodedFrameQueue: Sendable {
    private struct State {
        var isOpen = false
        var items = Deque<ProgramPacket>()
        /// Repeated when the lane has overflowed.
        var parameters: CodecParameters?
    }

    /// Maximum number of waiting items: about 30 seconds at 60 frames per second.
    private static let limit = 2_048

    private let state = Mutex(State())

    package init() {}

    /// From now on, items are kept until they are taken. Call it before the source's thread runs.
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

    /// Returns all items since the last call.
    package func takeAll() -> Deque<ProgramPacket> {
        self.state.withLock { state in
            guard !state.items.isEmpty else { return [] }
            defer { state.items.removeAll(keepingCapacity: true) }
            return state.items
        }
    }
}
