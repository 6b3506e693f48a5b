package import MediaTypes
import NIOCore
import NIOPosix
import Threading
import Synchronization

/// The sources of a room that are pulled from other servers: each one connects, plays, and reconnects forever.
///
/// The packets are delivered as those of a publisher: by a ``SourceHub``, with the same events. Runs one event-loop
/// thread of its own, and a thread for each connected SRT source. Sources can be added and removed at any time. Life cycle: ``start()``
/// once, then ``stop()`` once.
package final class PullService: Sendable {
    private let hubs: Mutex<[SourceID: SourceHub]>
    private let clock: any MonotonicClock
    private let events: @Sendable (IngestEvent) -> Void
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let loop: any EventLoop
    private let drivers: NIOLoopBoundBox<[SourcePuller]>
    private let gate = Gate()
    private let isStopped = Mutex(false)
    /// Threads of removed SRT sources that may not have ended yet.
    private let leaving = Mutex<[MPEGTSFeed]>([])

    /// Creates the service with its pull sources; call ``start()`` to connect.
    ///
    /// - Parameters:
    ///   - clock: Stamps the arrival of packets.
    ///   - events: Called on the service's thread; must not block.
    package init(
        _ sources: [PullSettings], srt: [SRTPullSettings] = [], clock: any MonotonicClock,
        events: @escaping @Sendable (IngestEvent) -> Void
    ) {
        let loop = self.group.next()
        self.loop = loop
        let hubs = Dictionary(
            (sources.map(\.source) + srt.map(\.source)).map { ($0, SourceHub(source: $0)) },
            uniquingKeysWith: { first, _ in first })
        self.hubs = Mutex(hubs)
        (self.clock, self.events) = (clock, events)
        self.drivers = NIOLoopBoundBox.makeBoxSendingValue([], eventLoop: loop)
        loop.execute { [drivers] in
            drivers.value = sources.compactMap { settings in
                hubs[settings.source].map {
                    PullDriver(settings, hub: $0, clock: clock, loop: loop, emit: events)
                }
            }
            drivers.value += srt.compactMap { settings in
                hubs[settings.source].map {
                    SRTPullDriver(settings, hub: $0, clock: clock, loop: loop, emit: events)
                }
            }
            for driver in drivers.value { Self.connect(driver, on: loop) }
        }
    }

    /// Pauses the driver while the buffer of its source is full. Call it on the service's thread.
    private static func connect(_ driver: SourcePuller, on loop: any EventLoop) {
        let box = NIOLoopBound(driver, eventLoop: loop)
        driver.hub.onFullChange { isFull in loop.execute { box.value.setPaused(isFull) } }
    }

    /// Adds a source that is pulled over RTMP, and starts to connect to its server. Subscribe to the hub at once: of what arrives
    /// before, only the cached GOP is delivered.
    ///
    /// - Parameter deadline: Time before which it does not connect, in nanoseconds of the service's clock; nil: it
    ///   connects at once.
    /// - Returns: The hub that delivers the source.
    package func add(_ settings: PullSettings, holdingUntil deadline: Int64? = nil) -> SourceHub {
        self.add(settings.source, holdingUntil: deadline) {
            [clock = self.clock, loop = self.loop, events = self.events] in
            PullDriver(settings, hub: $0, clock: clock, loop: loop, emit: events)
        }
    }

    /// Adds a source that is pulled over SRT; parameters and result are as for a source that is pulled over RTMP.
    package func add(_ settings: SRTPullSettings, holdingUntil deadline: Int64? = nil) -> SourceHub {
        self.add(settings.source, holdingUntil: deadline) {
            [clock = self.clock, loop = self.loop, events = self.events] in
            SRTPullDriver(settings, hub: $0, clock: clock, loop: loop, emit: events)
        }
    }

    private func add(
        _ source: SourceID, holdingUntil deadline: Int64?, _ make: @escaping @Sendable (SourceHub) -> SourcePuller
    ) -> SourceHub {
        let hub = SourceHub(source: source)
        self.hubs.withLock { $0[source] = hub }
        self.gate.pass {
            self.loop.execute { [self, drivers, loop] in
                // A driver that starts after the others were stopped would never be stopped.
                if self.isStopped.withLock({ $0 }) { return }
                let driver = make(hub)
                Self.connect(driver, on: loop)
                drivers.value.append(driver)
                if let deadline { driver.hold(until: deadline) }
                driver.start()
            }
        }
        return hub
    }

    /// Disconnects from the server of a source and forgets the source.
    package func remove(_ source: SourceID) {
        guard let hub = self.hubs.withLock({ $0.removeValue(forKey: source) }) else { return }
        self.gate.pass {
            self.loop.execute { [self] in
                // On the loop's thread, after `add` has connected the hub there.
                hub.onFullChange { _ in }
                for driver in self.drivers.value where driver.source == source {
                    driver.stop()
                    guard let feed = (driver as? SRTPullDriver)?.lastFeed else { continue }
                    self.leaving.withLock { feeds in
                        feeds.removeAll { $0.hasFinished }
                        feeds.append(feed)
                    }
                }
                self.drivers.value.removeAll { $0.source == source }
            }
        }
    }

    /// The hub that delivers `source`; nil if it is not a pull source.
    package func hub(for source: SourceID) -> SourceHub? { self.hubs.withLock { $0[source] } }

    /// Starts to connect to the server of every pull source.
    package func start() {
        self.loop.execute { [drivers] in for driver in drivers.value { driver.start() } }
    }

    /// Disconnects from the server of `source`, if it is a pull source, and does not reconnect before `deadline`, in
    /// nanoseconds of the service's clock.
    package func hold(_ source: SourceID, until deadline: Int64) {
        // A kick may still arrive while the room ends.
        self.gate.pass {
            self.loop.execute { [drivers] in
                for driver in drivers.value where driver.source == source { driver.hold(until: deadline) }
            }
        }
    }

    /// Disconnects from every server and ends the thread.
    package func stop() async {
        let wasStopped = self.isStopped.withLock { isStopped in
            defer { isStopped = true }
            return isStopped
        }
        if wasStopped { return }
        // The hubs outlive the thread.
        for hub in self.hubs.withLock({ Array($0.values) }) { hub.onFullChange { _ in } }
        // Errors are ignored: the service ends in any case.
        let feeds = try? await self.loop.submit { [drivers] in
            for driver in drivers.value { driver.stop() }
            defer { drivers.value = [] }
            return drivers.value.compactMap { ($0 as? SRTPullDriver)?.lastFeed }
        }.get()
        await MPEGTSFeed.join((feeds ?? []) + self.leaving.withLock { $0 })
        self.gate.close()
        try? await self.group.shutdownGracefully()
    }
}
