import Egress
import MediaTypes
import NIOCore
import Synchronization

/// Sends the coded packets of one source to another room unchanged: same payload, same timestamps.
///
/// The publisher's thread only puts packets into a bounded queue; everything else happens on the relays' event loop, in
/// ``RelayDriver``. Life cycle: it starts when it is created, and ends with ``stop(reason:)``.
final class Relay: SourceSubscriber {
    private struct Shared {
        var status: RelayStatus
        var queue = RelayQueue()
        /// True while the remote server is connected and accepts packets.
        var isCollecting = false
        /// True while the source has a publisher that sends.
        var hasSource = false
        /// True if the driver has been scheduled and has not run yet.
        var isWoken = false
        /// Number of packets dropped during earlier connections.
        var droppedBefore = 0
    }

    let url: RTMPURL
    /// Checks whether the address of the other room is allowed; `nil`: any address is.
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

    /// Ends the relay and closes its connection to the remote server.
    func stop(reason: String) {
        self.loop.execute {
            self.driver.value?.stop(reason: reason)
            // The driver and the relay retain each other.
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

    // MARK: Calls from the publisher's thread

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

    // MARK: Calls from the driver

    func updateStatus(_ change: (inout RelayStatus) -> Void) { self.shared.withLock { change(&$0.status) } }

    /// Returns whether the source sends, and clears the wake-up flag so that the next change schedules the driver
    /// again.
    func takeWake() -> Bool {
        self.shared.withLock { shared in
            shared.isWoken = false
            return shared.hasSource
        }
    }

    var hasSource: Bool { self.shared.withLock { $0.hasSource } }

    /// Empties the queue, and starts or stops collecting packets.
    func collect(_ isCollecting: Bool) {
        self.shared.withLock { shared in
            shared.droppedBefore += shared.queue.dropped
            shared.queue = RelayQueue()
            shared.isCollecting = isCollecting
            // ``hasSource`` becomes true again with the cached items, if the source sends.
            if isCollecting { shared.hasSource = false }
        }
    }

    /// Track configurations that wait in the queue.
    var configured: [CodecParameters] { self.shared.withLock { $0.queue.configured } }

    func pop() -> SourceItem? { self.shared.withLock { $0.queue.pop() } }
}
