package import MediaTypes
import Synchronization

/// The closed captions of a source's frames with program timestamps. The source's decode thread writes them, the program
/// thread reads them.
package final class CaptionInbox: Sendable {
    /// One item of the inbox; items are kept in decoding order.
    package enum Item: Sendable {
        /// The captions of a frame, and its presentation time in nanoseconds of program time.
        case frame([CaptionPair], pts: Int64)
        /// The publication has ended.
        case end
    }

    private struct State {
        var isOpen = false
        var isHEVC = false
        var items: [Item] = []
    }

    /// Number of waiting items at which all are discarded: half a minute at 60 frames per second.
    private static let limit = 2_048

    private let state = Mutex(State())

    package init() {}

    /// Opens the inbox: from now on, frames are searched for captions, which are kept until ``takeAll()``.
    package func open() { self.state.withLock { $0.isOpen = true } }

    /// Adds the captions of a frame, or the end of a publication, if the inbox is open; called on the decode thread.
    package func put(_ item: ProgramPacket) {
        switch item {
        case .configuration(let parameters): self.state.withLock { $0.isHEVC = parameters.codec == .hevc }
        case .picture(let packet, let pts):
            let (isOpen, isHEVC) = self.state.withLock { ($0.isOpen, $0.isHEVC) }
            guard isOpen else { return }
            let pairs = CaptionPair.read(packet.memory, in: packet.range, isHEVC: isHEVC)
            if !pairs.isEmpty { self.append(.frame(pairs, pts: pts)) }
        case .end: self.append(.end)
        }
    }

    private func append(_ item: Item) {
        self.state.withLock { state in
            guard state.isOpen else { return }
            if state.items.count >= Self.limit { state.items = [.end] }
            state.items.append(item)
        }
    }

    /// Removes and returns all waiting items, oldest first.
    package func takeAll() -> [Item] {
        self.state.withLock { state in
            guard !state.items.isEmpty else { return [] }
            defer { state.items.removeAll(keepingCapacity: true) }
            return state.items
        }
    }
}
