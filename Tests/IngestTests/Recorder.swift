import Ingest
import MediaTypes
import Synchronization

/// Keeps what arrives, and lets a test wait for it without polling.
final class Recorder<Element: Sendable>: Sendable {
    private struct Waiter {
        let isMet: @Sendable ([Element]) -> Bool
        let continuation: CheckedContinuation<[Element], Never>
    }

    private struct State {
        var elements: [Element] = []
        var waiters: [Waiter] = []
    }

    private let state = Mutex(State())

    func append(_ element: Element) {
        let met = self.state.withLock { state -> [(Waiter, [Element])] in
            state.elements.append(element)
            let elements = state.elements
            let met = state.waiters.filter { $0.isMet(elements) }
            state.waiters.removeAll { $0.isMet(elements) }
            return met.map { ($0, elements) }
        }
        for (waiter, elements) in met { waiter.continuation.resume(returning: elements) }
    }

    var elements: [Element] { self.state.withLock { $0.elements } }

    /// Everything so far, once `isMet` holds of it. The suite's time limit ends a wait that is in vain.
    @discardableResult
    func wait(until isMet: @escaping @Sendable ([Element]) -> Bool) async -> [Element] {
        await withCheckedContinuation { continuation in
            let elements = self.state.withLock { state -> [Element]? in
                if isMet(state.elements) { return state.elements }
                state.waiters.append(Waiter(isMet: isMet, continuation: continuation))
                return nil
            }
            if let elements { continuation.resume(returning: elements) }
        }
    }
}

/// A subscriber that keeps everything.
final class ItemRecorder: SourceSubscriber {
    let items = Recorder<SourceItem>()

    func receive(_ item: SourceItem) { self.items.append(item) }

    var configurations: [CodecParameters] {
        self.items.elements.compactMap { if case .configuration(let parameters) = $0 { parameters } else { nil } }
    }
    var packets: [CodedPacket] {
        self.items.elements.compactMap { if case .packet(let packet) = $0 { packet } else { nil } }
    }
    var ends: Int { self.items.elements.count { if case .end = $0 { true } else { false } } }
}
