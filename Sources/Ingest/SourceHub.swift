package import MediaTypes
import Synchronization

/// Delivers the items of one source to all its subscribers.
///
/// Any thread may call. Each subscriber gets the items in the order in which they were received; a subscriber that
/// joins later starts with the cached GOP. No delivery happens after ``unsubscribe(_:)`` has returned.
package final class SourceHub: Sendable {
    private struct Delivery {
        var cache = GOPCache()
        var subscribers: [(token: SubscriptionToken, subscriber: any SourceSubscriber)] = []
        var nextID = 0
    }

    private struct Flow {
        var full: Set<SubscriptionToken> = []
        /// Subscribers that need their items at once. Every subscriber is in either `eager` or `patient`.
        var eager: Set<SubscriptionToken> = []
        var patient: Set<SubscriptionToken> = []
        var onChange: (@Sendable (Bool) -> Void)?
        var onKeyFrameRequest: (@Sendable () -> Void)?
    }

    /// The source whose items this hub delivers.
    package let source: SourceID
    // Held while items are handed out, so that a backlog and live items cannot overtake one another.
    private let delivery = Mutex(Delivery())
    // Apart from `delivery`, so that a subscriber may report that it is full from inside its `receive`.
    private let flow = Mutex(Flow())
    private let counts = Mutex(SourceStatistics())
    /// True if `Flow.eager` is not empty. Separate from `flow`, because it is read dozens of times per second.
    private let isEager = Atomic<Bool>(false)

    package init(source: SourceID) { self.source = source }

    /// Delivers items, in order. Only one publisher at a time may call this.
    package func receive(_ items: [SourceItem]) {
        if items.isEmpty { return }
        self.delivery.withLock { delivery in
            for item in items { delivery.cache.note(item) }
            for (_, subscriber) in delivery.subscribers { subscriber.receive(items) }
        }
        self.count(items)
    }

    /// Adds a subscriber, which gets the configurations and the cached GOP before the function returns. The subscriber
    /// needs its items at once until ``setPatient(_:for:)`` says otherwise.
    ///
    /// If no GOP is cached, for example because a browser sent its last key frame long ago, a key frame is requested.
    package func subscribe(_ subscriber: any SourceSubscriber) -> SubscriptionToken {
        let (token, hasPackets) = self.delivery.withLock { delivery in
            let token = SubscriptionToken(id: delivery.nextID)
            delivery.nextID += 1
            self.updatePatience { $0.eager.insert(token) }
            subscriber.receive(delivery.cache.backlog)
            delivery.subscribers.append((token, subscriber))
            return (token, delivery.cache.hasPackets)
        }
        if !hasPackets { self.requestKeyFrame() }
        return token
    }

    /// Asks the publisher for a key frame, because a subscriber cannot decode without one. Has an effect only if the
    /// publisher sends key frames on request. May be called for every packet: the publisher limits the rate.
    package func requestKeyFrame() { self.flow.withLock(\.onKeyFrameRequest)?() }

    /// Sets the function that asks the publisher for a key frame; it must not block.
    package func onKeyFrameRequest(_ listener: @escaping @Sendable () -> Void) {
        self.flow.withLock { $0.onKeyFrameRequest = listener }
    }

    /// Removes a subscriber. If the subscriber was full, it no longer holds up the publisher.
    package func unsubscribe(_ token: SubscriptionToken) {
        self.delivery.withLock { $0.subscribers.removeAll { $0.token == token } }
        self.setFull(false, for: token)
        self.updatePatience { flow in
            flow.eager.remove(token)
            flow.patient.remove(token)
        }
    }

    /// Sets whether a subscriber is full. While any subscriber is full, the publisher of this source is not read, or, if it
    /// publishes over WebRTC, its packets are dropped; other publishers are not affected.
    package func setFull(_ isFull: Bool, for token: SubscriptionToken) {
        self.flow.withLock { flow in
            let was = !flow.full.isEmpty
            if isFull { flow.full.insert(token) } else { flow.full.remove(token) }
            let now = !flow.full.isEmpty
            // Called inside the lock, so that two changes cannot arrive in the wrong order; the listener only posts to
            // its event loop.
            if was != now { flow.onChange?(now) }
        }
    }

    /// True if any subscriber is full.
    package var isFull: Bool { self.flow.withLock { !$0.full.isEmpty } }

    /// Sets whether a subscriber accepts its items a little later, because no viewer sees or hears the result. The
    /// default is false. Does nothing for a subscriber that has been removed.
    package func setPatient(_ isPatient: Bool, for token: SubscriptionToken) {
        self.updatePatience { flow in
            if isPatient, flow.eager.remove(token) != nil { flow.patient.insert(token) }
            if !isPatient, flow.patient.remove(token) != nil { flow.eager.insert(token) }
        }
    }

    /// True if every subscriber accepts items a little later; see ``setPatient(_:for:)``.
    package var isPatient: Bool { !self.isEager.load(ordering: .relaxed) }

    private func updatePatience(_ body: (inout Flow) -> Void) {
        self.flow.withLock { flow in
            body(&flow)
            self.isEager.store(!flow.eager.isEmpty, ordering: .relaxed)
        }
    }

    /// Passes the call to all subscribers; see ``SourceSubscriber/noteRead(until:)``. Called by the current publisher.
    package func noteRead(until time: Int64?) {
        self.delivery.withLock { delivery in
            for (_, subscriber) in delivery.subscribers { subscriber.noteRead(until: time) }
        }
    }

    /// Passes the call to all subscribers; see ``SourceSubscriber/cut()``. The caller ends the publication and delivers
    /// the end next.
    package func cut() {
        self.delivery.withLock { delivery in
            for (_, subscriber) in delivery.subscribers { subscriber.cut() }
        }
    }

    /// Sets the function that is called when ``isFull`` changes; it must not block.
    func onFullChange(_ listener: @escaping @Sendable (Bool) -> Void) {
        self.flow.withLock { $0.onChange = listener }
    }

    /// The source's counters since it was added.
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
