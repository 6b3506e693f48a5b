package import DequeModule
package import MediaTypes
import Synchronization

/// A source's coded pictures on program time, beside its decoder: written by its decode thread, taken by the program's.
package final class CodedLane: Sendable {
    private struct State {
        var isOpen = false
        var items = Deque<ProgramItem>()
        /// Told again when the lane overflows.
        var parameters: CodecParameters?
    }

    /// Items that may wait: half a minute at 60 pictures a second.
    private static let limit = 2_048

    private let state = Mutex(State())

    package init() {}

    /// From now on items are kept until they are taken. Before the source's thread runs.
    package func open() { self.state.withLock { $0.isOpen = true } }

    func put(_ item: ProgramItem) {
        self.state.withLock { state in
            guard state.isOpen else { return }
            if case .configuration(let parameters) = item { state.parameters = parameters }
            if state.items.count >= Self.limit {
                // Nobody takes them: whoever begins again finds a publication that begins.
                state.items.removeAll()
                state.items.append(.end)
                if let parameters = state.parameters { state.items.append(.configuration(parameters)) }
            }
            state.items.append(item)
        }
    }

    /// Everything that came since the last call.
    package func takeAll() -> Deque<ProgramItem> {
        self.state.withLock { state in
            guard !state.items.isEmpty else { return [] }
            defer { state.items.removeAll(keepingCapacity: true) }
            return state.items
        }
    }
}
