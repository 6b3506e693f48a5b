package import MediaTypes
import NIOCore
import NIOPosix
import Threading
import Synchronization

/// The sources of a room that are pulled from other servers: each one connects, plays, and reconnects forever.
///
/// The packets are delivered as those of a publisher: by a ``SourceHub``, with the same events. Runs one event-loop
/// thread of its own. Life cycle: ``start()`` once, then ``stop()`` once.
package final class PullService: Sendable {
    private let hubs: [SourceID: SourceHub]
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let loop: any EventLoop
    private let drivers: NIOLoopBoundBox<[SourcePuller]>
    private let gate = Gate()
    private let isStopped = Mutex(false)

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
        self.hubs = hubs
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
            for driver in drivers.value {
                let box = NIOLoopBound(driver, eventLoop: loop)
                hubs[driver.source]?.onFullChange { isFull in loop.execute { box.value.setPaused(isFull) } }
            }
        }
    }

    /// The hub that delivers `source`; nil if it is not a pull source.
    package func hub(for source: SourceID) -> SourceHub? { self.hubs[source] }

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
        for hub in self.hubs.values { hub.onFullChange { _ in } }
        // An error leaves nothing to do here or below.
        let feeds = try? await self.loop.submit { [drivers] in
            for driver in drivers.value { driver.stop() }
            defer { drivers.value = [] }
            return drivers.value.compactMap { ($0 as? SRTPullDriver)?.lastFeed }
        }.get()
        await MPEGTSFeed.join(feeds ?? [])
        self.gate.close()
        try? await self.group.shutdownGracefully()
    }
}
