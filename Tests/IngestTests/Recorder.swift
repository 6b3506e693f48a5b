import Dispatch
import Ingest
import MediaTypes
import Synchronization
import TestSupport
import Testing

/// Stores elements as they arrive, and lets a test wait for them without polling.
final class Recorder<Element: Sendable>: Sendable {
    private struct Waiter {
        let id: Int
        let isMet: @Sendable ([Element]) -> Bool
        let continuation: CheckedContinuation<([Element], Bool), Never>
    }

    private struct State {
        var elements: [Element] = []
        var waiters: [Waiter] = []
        var nextID = 0
    }

    private let state = Mutex(State())

    func append(_ element: Element) {
        let met = self.state.withLock { state -> [(Waiter, [Element])] in
            state.elements.append(element)
            let elements = state.elements
            var met: [(Waiter, [Element])] = []
            state.waiters.removeAll { waiter in
                guard waiter.isMet(elements) else { return false }
                met.append((waiter, elements))
                return true
            }
            return met
        }
        for (waiter, elements) in met { waiter.continuation.resume(returning: (elements, true)) }
    }

    var elements: [Element] { self.state.withLock { $0.elements } }

    /// All elements so far, once `isMet` holds for them. After `limit` seconds it records an issue and returns what
    /// there is, since a suite's time limit does not end a wait.
    @discardableResult
    func wait(
        limit: Int = 20 * Instrumented.factor, fileID: String = #fileID, line: Int = #line,
        until isMet: @escaping @Sendable ([Element]) -> Bool
    ) async -> [Element] {
        let (elements, isInTime) = await withCheckedContinuation { continuation in
            let (elements, id) = self.state.withLock { state -> ([Element]?, Int) in
                if isMet(state.elements) { return (state.elements, 0) }
                state.nextID += 1
                state.waiters.append(Waiter(id: state.nextID, isMet: isMet, continuation: continuation))
                return (nil, state.nextID)
            }
            if let elements {
                continuation.resume(returning: (elements, true))
                return
            }
            DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(limit)) { self.giveUp(id) }
        }
        if !isInTime {
            Issue.record("\(fileID):\(line): not within \(limit) s; last: \(elements.suffix(3))")
        }
        return elements
    }

    private func giveUp(_ id: Int) {
        let (waiter, elements) = self.state.withLock { state -> (Waiter?, [Element]) in
            guard let index = state.waiters.firstIndex(where: { $0.id == id }) else { return (nil, []) }
            return (state.waiters.remove(at: index), state.elements)
        }
        waiter?.continuation.resume(returning: (elements, false))
    }
}

/// A subscriber that stores everything.
final class ItemRecorder: SourceSubscriber {
    let items = Recorder<SourceItem>()

    private let cutCount = Atomic<Int>(0)

    /// Subscribes to `hub` and allows items to come a little later.
    func join(patiently hub: SourceHub) -> SubscriptionToken {
        let token = hub.subscribe(self)
        hub.setPatient(true, for: token)
        return token
    }

    func cut() { self.cutCount.add(1, ordering: .sequentiallyConsistent) }

    /// How often it was asked to drop its packets.
    var cuts: Int { self.cutCount.load(ordering: .sequentiallyConsistent) }

    func receive(_ item: SourceItem) { self.items.append(item) }

    var configurations: [CodecParameters] {
        self.items.elements.compactMap { if case .configuration(let parameters) = $0 { parameters } else { nil } }
    }
    var packets: [CodedPacket] {
        self.items.elements.compactMap { if case .packet(let packet) = $0 { packet } else { nil } }
    }
    var ends: Int { self.items.elements.count { if case .end = $0 { true } else { false } } }
}
