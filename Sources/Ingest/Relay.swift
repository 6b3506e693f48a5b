import Egress
import MediaTypes
import NIOCore
import Synchronization

/// Sends the coded packets of one source to another room, as they came: same payload, same timestamps.
///
/// The publisher's thread only puts packets into a bounded queue; everything else happens on the relays' event loop, in
/// ``RelayDriver``. Life: made, ``start()``, ``stop(reason:)``.
final class Relay: SourceSubscriber {
    private struct Shared {
        var status: RelayStatus
        var queue = RelayQueue()
        /// A far side is there to take packets.
        var isCollecting = false
        /// The source sends.
        var hasSource = false
        /// The driver has been told and has not looked yet.
        var isWoken = false
        /// Dropped by the queues of connections before this one.
        var droppedBefore = 0
    }

    let url: RTMPURL
    /// Judges the address of the other room; `nil`: any address.
    let egress: EgressGate?
    private let clock: any MonotonicClock
    private let loop: any EventLoop
    private let shared: Mutex<Shared>
    private let driver: NIOLoopBoundBox<RelayDriver?>

    init(
        id: String, url: RTMPURL, hub: SourceHub, egress: EgressGate? = nil, clock: any MonotonicClock,
        loop: any EventLoop, events: @escaping @Sendable (RelayEvent) -> Void
    ) {
        self.url = url
        self.egress = egress
        self.clock = clock
        self.loop = loop
        self.shared = Mutex(Shared(status: RelayStatus(relayID: id, url: url.redacted)))
        self.driver = NIOLoopBoundBox.makeEmptyBox(valueType: RelayDriver.self, eventLoop: loop)
        loop.execute {
            self.driver.value = RelayDriver(relay: self, hub: hub, clock: clock, loop: loop, events: events)
            self.driver.value?.start()
        }
    }

    /// Ends it; the far side is taken leave of.
    func stop(reason: String) {
        self.loop.execute {
            self.driver.value?.stop(reason: reason)
            // The driver holds the relay and the relay holds the driver.
            self.driver.value = nil
        }
    }

    var status: RelayStatus {
        self.shared.withLock { shared in
            var status = shared.status
            status.dropped = shared.droppedBefore + shared.queue.dropped
            return status
        }
    }

    // MARK: The publisher's side

    func receive(_ item: SourceItem) {
        let now = self.clock.now()
        let wakes = self.shared.withLock { shared -> Bool in
            let had = shared.hasSource
            if case .end = item { shared.hasSource = false } else { shared.hasSource = true }
            if shared.isCollecting { shared.queue.push(item, now: now) }
            guard !shared.isWoken, shared.isCollecting || had != shared.hasSource else { return false }
            shared.isWoken = true
            return true
        }
        if wakes { self.loop.execute { self.driver.value?.woken() } }
    }

    // MARK: The driver's side

    func updateStatus(_ change: (inout RelayStatus) -> Void) { self.shared.withLock { change(&$0.status) } }

    /// Whether the source sends. The next change wakes the driver again.
    func takeWake() -> Bool {
        self.shared.withLock { shared in
            shared.isWoken = false
            return shared.hasSource
        }
    }

    var hasSource: Bool { self.shared.withLock { $0.hasSource } }

    /// Empties the queue, and takes packets from now on or none any more.
    func collect(_ isCollecting: Bool) {
        self.shared.withLock { shared in
            shared.droppedBefore += shared.queue.dropped
            shared.queue = RelayQueue()
            shared.isCollecting = isCollecting
            // What is cached of a source that sends will say so.
            if isCollecting { shared.hasSource = false }
        }
    }

    /// Kinds of the tracks whose configuration waits.
    var configured: [CodecParameters] { self.shared.withLock { $0.queue.configured } }

    func pop() -> SourceItem? { self.shared.withLock { $0.queue.pop() } }
}
