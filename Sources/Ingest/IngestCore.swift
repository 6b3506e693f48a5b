package import PublishAuth
import AsyncHTTPClient
import Logging
package import MediaTypes
import NIOCore
import PipelineSpec
package import RTMP
import Threading

/// State shared by all connections of one ingest server. Used only on the server's single event loop, so it needs no
/// lock; see ``IngestServer/perform(_:)``.
package final class IngestCore {
    private(set) var configuration: IngestConfiguration
    package let clock: any MonotonicClock
    let logger: Logger
    private var hubs: [SourceID: SourceHub]
    package let emit: @Sendable (IngestEvent) -> Void
    /// Timer that checks the sockets of publishers; it lets received bytes wait so that more of them are read at once.
    let grid = ReadTimer()
    private var ledger: ConnectionLimiter
    private var isSweepDue = false
    private var handlers: [Int: any PublishingConnection] = [:]
    /// Number of connections that are closing and stay open for a moment so that their peers can read the refusal.
    private var lingering = 0
    private static let maximumLingering = 256
    var admission: Admission
    private var refusals = RefusalTable()
    /// Rate limit of publications per source. It allows an encoder that reconnects in a loop once per second, but not a
    /// client that connects, publishes and closes as fast as it can.
    private var publications: [SourceID: TokenBucket] = [:]
    private static let publicationRate = (perSecond: Int64(1), burst: Int64(32))
    private var failures = AuthFailureLimiter()
    /// Rate limit of webhook requests per client network. Ten publishers behind one address reconnect at once after a
    /// network outage; a client that exceeds the limit would delay everyone else on the webhook's connections.
    private var questions = ClientRateLimiter((perSecond: 4, burst: 32))
    /// Rate limit of log lines about refused connections, per client network.
    private var lines = ClientRateLimiter((perSecond: 1, burst: 20))
    /// Webhook that is asked about each publisher with a valid key; nil: none.
    var hook: PublishWebhookClient?
    /// Gives access to the event loop to callers that may outlive the loop; it is closed before the loop ends.
    let gate: Gate
    /// HTTP client of the webhook; nil: no webhook is configured.
    let client: HTTPClient?
    /// `HOST:PORT` of the RTMP listener; empty if there is none.
    var address = ""
    /// `HOST:PORT` of the RTMPS listener; empty if there is none.
    var secureAddress = ""
    /// `HOST:PORT` of the SRT listener; empty if there is none.
    var srtAddress = ""
    /// Threads that read from SRT; the server waits for them when it stops.
    private(set) var feeds: [MPEGTSFeed] = []
    private var connections = 0
    private var publishers: [SourceID: any PublishingConnection] = [:]
    /// Time at which the current publisher of each source was accepted, in nanoseconds.
    private var claimedAt: [SourceID: Int64] = [:]
    private var flapGuards: [SourceID: TakeoverLimiter] = [:]

    init(
        configuration: IngestConfiguration, clock: any MonotonicClock, logger: Logger, hubs: [SourceID: SourceHub],
        gate: Gate,
        emit: @escaping @Sendable (IngestEvent) -> Void
    ) {
        self.configuration = configuration
        self.clock = clock
        self.logger = logger
        self.hubs = hubs
        self.gate = gate
        self.emit = emit
        self.admission = configuration.admission
        self.ledger = ConnectionLimiter(
            maximum: configuration.maximumConnections, maximumPerPlace: configuration.maximumWaitingPerAddress)
        self.hook = configuration.hook
        self.client = configuration.hook.map { _ in PublishWebhookClient.client() }
        for (source, refused) in configuration.refused {
            self.refusals.refuse(source, refused.refusal, until: refused.until)
        }
    }

    /// The decision about a publisher whose key is valid.
    package enum Claim {
        case accept(SourceHub, isTakeover: Bool)
        /// The publisher is refused.
        ///
        /// - Parameter reason: For the operator; it is not sent to the publisher.
        case deny(PublishRefusal, reason: String?)
    }

    /// Returns the number of a new connection, starting at 1.
    package func number() -> Int {
        self.connections &+= 1
        return self.connections
    }

    /// Registers a connection, or its real address after the PROXY header. Closes connections over the limit.
    func opened(_ handler: any PublishingConnection, from address: IPAddress?, on loop: any EventLoop) {
        self.handlers[handler.number] = handler
        let leaving = self.ledger.opened(handler.number, from: address, now: self.clock.now())
        for number in leaving { self.handlers[number]?.crowdedOut() }
        self.sweepSoon(on: loop)
    }

    /// Schedules a second check of networks with too many connections: new connections get a moment to make progress
    /// before they are closed.
    private func sweepSoon(on loop: any EventLoop) {
        guard !self.isSweepDue, self.ledger.isCrowded else { return }
        self.isSweepDue = true
        let core = NIOLoopBound(self, eventLoop: loop)
        loop.scheduleTask(in: .nanoseconds(ConnectionLimiter.patience)) {
            let core = core.value
            core.isSweepDue = false
            for number in core.ledger.sweep(now: core.clock.now()) { core.handlers[number]?.crowdedOut() }
            core.sweepSoon(on: loop)
        }
    }

    /// Returns whether `address` is that of a configured proxy; see ``IngestConfiguration/proxies``.
    func isProxy(_ address: IPAddress?) -> Bool {
        guard let address else { return false }
        return self.configuration.proxies.contains { $0.contains(address) }
    }

    /// Records that a connection has made progress in its handshake.
    func advanced(_ handler: any PublishingConnection) { self.ledger.advanced(handler.number, now: self.clock.now()) }

    /// Records that a connection waits for its delayed refusal: its key is wrong, or was used too often.
    func denied(_ handler: any PublishingConnection) { self.ledger.denied(handler.number) }

    /// Records that a connection publishes. From now on it is not closed in favor of others.
    func published(_ handler: any PublishingConnection) { self.ledger.published(handler.number) }

    /// Stops counting a connection that the server begins to close. Call ``lingered()`` when it is closed.
    ///
    /// - Returns: True if the connection may linger, so that the client can read the last status; false if too many
    ///   connections linger already. Then the caller closes it at once, without calling ``lingered()``.
    func closing(_ handler: any PublishingConnection) -> Bool {
        self.ledger.closed(handler.number)
        guard self.lingering < Self.maximumLingering else { return false }
        self.lingering += 1
        return true
    }

    func lingered() { self.lingering -= 1 }

    func closed(_ handler: any PublishingConnection) {
        self.ledger.closed(handler.number)
        self.handlers[handler.number] = nil
    }

    /// Registers a thread that reads from SRT, so that the server waits for it when it stops.
    func note(_ feed: MPEGTSFeed) {
        self.feeds.removeAll(where: \.hasFinished)
        self.feeds.append(feed)
    }

    /// Finds the source that the key of a request belongs to.
    package func identify(_ request: PublishRequest) -> Admission.Answer {
        let answer = self.admission.answer(to: request.address, now: self.configuration.wallClock())
        if let use = self.admission.takeUse() { self.emit(.keyUsed(use)) }
        return answer
    }

    /// Marks a single-use key as unused again, because the request was refused after ``identify(_:)`` had accepted the
    /// key. Does nothing for other keys.
    package func giveBack(_ request: PublishRequest) {
        self.admission.giveBack(request.address, now: self.configuration.wallClock())
        if let use = self.admission.takeUse() { self.emit(.keyUsed(use)) }
    }

    /// Why `source` refuses all publishers at present; nil: it accepts them.
    package func refusal(of source: SourceID) -> PublishRefusal? {
        self.refusals.refusal(of: source, now: self.clock.now())
    }

    /// Counts one publication of `source` against its rate limit; returns false if the limit is exceeded.
    package func mayPublish(_ source: SourceID) -> Bool {
        let now = self.clock.now()
        return self.publications[source, default: TokenBucket(Self.publicationRate, now: now)].take(now: now)
    }

    /// Disconnects the publisher of `source` and refuses all publishers until `deadline`.
    func kick(_ source: SourceID, _ refusal: PublishRefusal, until deadline: Int64) {
        self.refusals.refuse(source, refusal, until: deadline)
        self.publishers[source]?.refuse(refusal)
        if deadline > self.clock.now() { self.endWaitingSessions(of: source, refusal) }
    }

    /// Ends WebRTC sessions that could publish `source` without another check of the key: sessions whose handshake is
    /// not complete, and sessions whose media has stopped.
    private func endWaitingSessions(of source: SourceID, _ refusal: PublishRefusal) {
        for handler in Array(self.handlers.values) {
            guard let session = handler as? WebRTCPublisher, session.source == source, session.hub == nil else {
                continue
            }
            session.refuse(refusal)
        }
    }

    /// Counts a refused attempt to publish from `address`, such as one with a wrong key, and returns how to answer it.
    func failed(at address: IPAddress?) -> AuthFailureLimiter.Answer {
        self.failures.failed(at: address, now: self.clock.now())
    }

    /// Counts one webhook request of `address` against its rate limit; returns false if the limit is exceeded.
    func mayAsk(from address: IPAddress?) -> Bool { self.questions.take(at: address, now: self.clock.now()) }

    /// Counts one log line about `address` against its rate limit; returns false if the limit is exceeded. So a client
    /// that opens thousands of connections cannot fill the disk.
    func mayLog(from address: IPAddress?) -> Bool { self.lines.take(at: address, now: self.clock.now()) }

    /// Makes `handler` the publisher of the source; a previous publisher is disconnected first if it may be taken over.
    package func claim(_ source: SourceID, by handler: any PublishingConnection) -> Claim {
        guard let hub = self.hubs[source] else { return .deny(.denied, reason: "\(source) was removed") }
        if let refusal = self.refusal(of: source) {
            return .deny(refusal, reason: "\(source) refuses publishers for some time")
        }
        let now = self.clock.now()
        guard let older = self.publishers[source] else {
            self.publishers[source] = handler
            self.claimedAt[source] = now
            return .accept(hub, isTakeover: false)
        }
        guard self.configuration.onDuplicate == .takeover else { return .deny(.busy, reason: nil) }
        let isAllowed = self.flapGuards[source, default: TakeoverLimiter()].allowsTakeover(
            since: self.claimedAt[source] ?? 0, lastPacket: hub.statistics.lastPacket, now: now)
        if !isAllowed {
            self.emit(.flapping(source, remote: handler.remote))
            return .deny(.busy, reason: nil)
        }
        // The older publisher ends its publication before the newer one begins.
        self.publishers[source] = handler
        self.claimedAt[source] = now
        older.giveWay()
        return .accept(hub, isTakeover: true)
    }

    // MARK: Sources that come and go

    /// Adds a source that publishers may publish.
    func add(_ source: IngestConfiguration.Source, _ hub: SourceHub) {
        self.hubs[hub.source] = hub
        self.configuration.readPatience[hub.source] = source.readPatience
        self.configuration.sourceCodecs[hub.source] = source.codecs
        // The server announces its codecs to a client before it knows which source the client publishes.
        if let codecs = source.codecs { self.configuration.session.codecs.formUnion(codecs) }
        if let refused = source.refused { self.refusals.refuse(hub.source, refused.refusal, until: refused.until) }
    }

    /// Removes a source and disconnects its publisher.
    func remove(_ source: SourceID, _ refusal: PublishRefusal) {
        self.hubs[source] = nil
        self.configuration.readPatience[source] = nil
        self.configuration.sourceCodecs[source] = nil
        self.refusals.forget(source)
        self.publications[source] = nil
        self.flapGuards[source] = nil
        self.claimedAt[source] = nil
        self.publishers[source]?.refuse(refusal)
        self.endWaitingSessions(of: source, refusal)
    }

    /// Ends the claim of `handler` on a source, unless another publisher has taken it over.
    package func release(_ source: SourceID, by handler: any PublishingConnection) {
        if self.publishers[source] === handler { self.publishers[source] = nil }
    }

    /// Returns the connection that publishes `source` now; nil if none does.
    func publisher(of source: SourceID) -> (any PublishingConnection)? { self.publishers[source] }
}
