import Logging
import MediaTypes
import RTMP

/// What the connections of one server share. Lives on the server's one event loop, so it needs no lock.
final class IngestCore {
    let configuration: IngestConfiguration
    let clock: any MonotonicClock
    let logger: Logger
    let hubs: [SourceID: SourceHub]
    let emit: @Sendable (IngestEvent) -> Void
    /// Connections that have not published.
    var unpublished = 0
    private let keys: KeyTable
    private var publishers: [SourceID: RTMPConnectionHandler] = [:]
    private var flapGuards: [SourceID: FlapGuard] = [:]

    init(
        configuration: IngestConfiguration, clock: any MonotonicClock, logger: Logger, hubs: [SourceID: SourceHub],
        emit: @escaping @Sendable (IngestEvent) -> Void
    ) {
        self.configuration = configuration
        self.clock = clock
        self.logger = logger
        self.hubs = hubs
        self.emit = emit
        self.keys = KeyTable(app: configuration.app, bindings: configuration.bindings)
    }

    /// What is decided on a request to publish.
    enum Admission {
        case accept(SourceHub, isTakeover: Bool)
        case deny(PublishRefusal)
    }

    /// Decides on a request, and makes room when the source is taken over.
    func admit(_ request: PublishRequest, by handler: RTMPConnectionHandler) -> Admission {
        guard let source = self.keys.source(of: request.address), let hub = self.hubs[source] else {
            return .deny(.denied)
        }
        guard let older = self.publishers[source] else {
            self.publishers[source] = handler
            return .accept(hub, isTakeover: false)
        }
        guard self.configuration.onDuplicate == .takeover else { return .deny(.busy) }
        let now = self.clock.now()
        if now &- older.lastReceived < FlapGuard.silence,
            !self.flapGuards[source, default: FlapGuard()].allowsTakeover(now: now)
        {
            self.emit(.flapping(source, remote: handler.remote))
            return .deny(.busy)
        }
        // The older one ends its source before the newer one begins it.
        self.publishers[source] = handler
        older.giveWay()
        return .accept(hub, isTakeover: true)
    }

    /// `handler` publishes no more.
    func release(_ source: SourceID, by handler: RTMPConnectionHandler) {
        if self.publishers[source] === handler { self.publishers[source] = nil }
    }

    /// Who publishes `source` now.
    func publisher(of source: SourceID) -> RTMPConnectionHandler? { self.publishers[source] }
}
