package import MediaTypes
import Synchronization

/// Hands the items of one source to everyone who reads it.
///
/// Any thread may call. Items reach each subscriber in the order in which they were received, and a subscriber that comes
/// later begins with the cached GOP. No delivery happens after ``unsubscribe(_:)`` has returned.
package final class SourceHub: Sendable {
    private struct Delivery {
        var cache = GOPCache()
        var subscribers: [(token: SubscriptionToken, subscriber: any SourceSubscriber)] = []
        var nextID = 0
    }

    private struct Flow {
        var full: Set<SubscriptionToken> = []
        /// All who read it are in one of the two.
        var eager: Set<SubscriptionToken> = []
        var patient: Set<SubscriptionToken> = []
        var onChange: (@Sendable (Bool) -> Void)?
    }

    /// Who publishes into this hub.
    package let source: SourceID
    // Held while items are handed out, so that a backlog and live items cannot overtake one another.
    private let delivery = Mutex(Delivery())
    // Apart from `delivery`, so that a subscriber may report that it is full from inside its `receive`.
    private let flow = Mutex(Flow())
    private let counts = Mutex(SourceStatistics())
    /// Somebody is in `Flow.eager`: by itself, since it is looked at dozens of times a second.
    private let isEager = Atomic<Bool>(false)

    package init(source: SourceID) { self.source = source }

    /// Hands out items, in order. One publisher at a time calls this.
    package func receive(_ items: [SourceItem]) {
        if items.isEmpty { return }
        self.delivery.withLock { delivery in
            for item in items { delivery.cache.note(item) }
            for (_, subscriber) in delivery.subscribers { subscriber.receive(items) }
        }
        self.count(items)
    }

    /// Adds a reader, which is not patient. It gets the configurations and the cached GOP before this returns.
    package func subscribe(_ subscriber: any SourceSubscriber) -> SubscriptionToken {
        self.delivery.withLock { delivery in
            let token = SubscriptionToken(id: delivery.nextID)
            delivery.nextID += 1
            self.updatePatience { $0.eager.insert(token) }
            subscriber.receive(delivery.cache.backlog)
            delivery.subscribers.append((token, subscriber))
            return token
        }
    }

    /// Removes a reader, and its hold on the publisher.
    package func unsubscribe(_ token: SubscriptionToken) {
        self.delivery.withLock { $0.subscribers.removeAll { $0.token == token } }
        self.setFull(false, for: token)
        self.updatePatience { flow in
            flow.eager.remove(token)
            flow.patient.remove(token)
        }
    }

    /// Back-pressure: while any reader is full, the publisher of this source, and no other, is not read from.
    package func setFull(_ isFull: Bool, for token: SubscriptionToken) {
        self.flow.withLock { flow in
            let was = !flow.full.isEmpty
            if isFull { flow.full.insert(token) } else { flow.full.remove(token) }
            let now = !flow.full.isEmpty
            // Told inside the lock, so that two changes cannot arrive in the wrong order; the listener only hops to its loop.
            if was != now { flow.onChange?(now) }
        }
    }

    /// Any reader is full.
    package var isFull: Bool { self.flow.withLock { !$0.full.isEmpty } }

    /// A reader says whether its items may come a little later, because nobody sees or hears what it makes of them. Until it does
    /// they may not; of one that has been removed nothing is noted.
    package func setPatient(_ isPatient: Bool, for token: SubscriptionToken) {
        self.updatePatience { flow in
            if isPatient, flow.eager.remove(token) != nil { flow.patient.insert(token) }
            if !isPatient, flow.patient.remove(token) != nil { flow.eager.insert(token) }
        }
    }

    /// Nobody who reads it minds that items come a little later; see ``setPatient(_:for:)``.
    package var isPatient: Bool { !self.isEager.load(ordering: .relaxed) }

    private func updatePatience(_ body: (inout Flow) -> Void) {
        self.flow.withLock { flow in
            body(&flow)
            self.isEager.store(!flow.eager.isEmpty, ordering: .relaxed)
        }
    }

    /// Tells all who read it; see ``SourceSubscriber/noteRead(until:)``. The publisher of the moment calls this.
    package func noteRead(until time: Int64?) {
        self.delivery.withLock { delivery in
            for (_, subscriber) in delivery.subscribers { subscriber.noteRead(until: time) }
        }
    }

    /// Tells all who read it; see ``SourceSubscriber/cut()``. Whoever ends the publication calls this, and hands out the end.
    package func cut() {
        self.delivery.withLock { delivery in
            for (_, subscriber) in delivery.subscribers { subscriber.cut() }
        }
    }

    /// Who is told when ``isFull`` changes; must not block.
    func onFullChange(_ listener: @escaping @Sendable (Bool) -> Void) {
        self.flow.withLock { $0.onChange = listener }
    }

    /// Counts so far.
    package var statistics: SourceStatistics { self.counts.withLock { $0 } }

    func updateStatistics(_ body: (inout SourceStatistics) -> Void) { self.counts.withLock { body(&$0) } }

    private func count(_ items: [SourceItem]) {
        self.counts.withLock { counts in
            for case .packet(let packet) in items {
                switch packet.kind {
                case .video:
                    counts.videoPackets += 1
                    if packet.isKey { counts.keyFrames += 1 }
                case .audio: counts.audioPackets += 1
                }
                counts.lastPacket = packet.arrival
            }
        }
    }
}
