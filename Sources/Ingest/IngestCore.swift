package import Admission
import AsyncHTTPClient
import Logging
package import MediaTypes
import NIOCore
import PipelineSpec
package import RTMP
import Stages

/// What the connections of one server share. Lives on the server's one event loop, so it needs no lock; see
/// ``IngestServer/perform(_:)``.
package final class IngestCore {
    private(set) var configuration: IngestConfiguration
    package let clock: any MonotonicClock
    let logger: Logger
    private var hubs: [SourceID: SourceHub]
    package let emit: @Sendable (IngestEvent) -> Void
    /// When publishers' bytes that wait are looked after.
    let grid = ReadGrid()
    private var ledger: ConnectionLedger
    private var isSweepDue = false
    private var handlers: [Int: any PublishingConnection] = [:]
    /// Connections that are closing and give their peers time to read why.
    private var lingering = 0
    private static let maximumLingering = 256
    var admission: Admission
    private var refusals = RefusalTable()
    /// Publications of each source. An encoder that comes back in a loop is let in every second; a client that connects, publishes
    /// and closes as fast as it can is not.
    private var publications: [SourceID: RateBudget] = [:]
    private static let publicationRate = (perSecond: Int64(1), burst: Int64(32))
    private var failures = FailureBook()
    /// Questions to the webhook of one place. Ten publishers behind one address come back at once after a cut; who asks more often
    /// than the webhook's connections can take would keep everybody else waiting.
    private var questions = PlaceBudget((perSecond: 4, burst: 32))
    /// Lines in the log about connections of one place that came to nothing.
    private var lines = PlaceBudget((perSecond: 1, burst: 20))
    /// Asked about each publisher whose key is right; nil: nobody is asked.
    var hook: HookClient?
    /// To the event loop, for those who do not know whether it still is there.
    let gate: Gate
    /// For the webhook; nil: there is none.
    let client: HTTPClient?
    /// `HOST:PORT` of the listener.
    var address = ""
    /// The same of the SRT listener.
    var srtAddress = ""
    /// Threads that read from SRT, which the server waits for at its end.
    private(set) var feeds: [TransportFeed] = []
    private var connections = 0
    private var publishers: [SourceID: any PublishingConnection] = [:]
    /// When each of them was let in.
    private var claimedAt: [SourceID: Int64] = [:]
    private var flapGuards: [SourceID: FlapGuard] = [:]

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
        self.ledger = ConnectionLedger(
            maximum: configuration.maximumConnections, maximumPerPlace: configuration.maximumWaitingPerAddress)
        self.hook = configuration.hook
        self.client = configuration.hook.map { _ in HookClient.client() }
        for (source, refused) in configuration.refused {
            self.refusals.refuse(source, refused.refusal, until: refused.until)
        }
    }

    /// What becomes of a publisher whose key is right.
    package enum Claim {
        case accept(SourceHub, isTakeover: Bool)
        /// - Parameter reason: For the operator; the publisher gets no hint.
        case deny(PublishRefusal, reason: String?)
    }

    /// Numbers a connection, 1 upwards.
    package func number() -> Int {
        self.connections &+= 1
        return self.connections
    }

    /// A connection has come, or it has become known where it comes from; whoever has to go for it goes.
    func opened(_ handler: any PublishingConnection, from address: IPAddress?, on loop: any EventLoop) {
        self.handlers[handler.number] = handler
        let leaving = self.ledger.opened(handler.number, from: address, now: self.clock.now())
        for number in leaving { self.handlers[number]?.crowdedOut() }
        self.sweepSoon(on: loop)
    }

    /// Those who have just come may stay a moment, and then not all of them.
    private func sweepSoon(on loop: any EventLoop) {
        guard !self.isSweepDue, self.ledger.isCrowded else { return }
        self.isSweepDue = true
        let core = NIOLoopBound(self, eventLoop: loop)
        loop.scheduleTask(in: .nanoseconds(ConnectionLedger.patience)) {
            let core = core.value
            core.isSweepDue = false
            for number in core.ledger.sweep(now: core.clock.now()) { core.handlers[number]?.crowdedOut() }
            core.sweepSoon(on: loop)
        }
    }

    /// Whether somebody at `address` is a proxy that says for whom it comes.
    func isProxy(_ address: IPAddress?) -> Bool {
        guard let address else { return false }
        return self.configuration.proxies.contains { $0.contains(address) }
    }

    /// It has got a step further on its way to publish.
    func advanced(_ handler: any PublishingConnection) { self.ledger.advanced(handler.number, now: self.clock.now()) }

    /// It waits to be told that its key is wrong.
    func denied(_ handler: any PublishingConnection) { self.ledger.denied(handler.number) }

    /// It publishes, and makes room for nobody.
    func published(_ handler: any PublishingConnection) { self.ledger.published(handler.number) }

    /// It counts no more; false: there is no time for its peer to read why.
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

    /// A thread reads from SRT.
    func note(_ feed: TransportFeed) {
        self.feeds.removeAll(where: \.hasFinished)
        self.feeds.append(feed)
    }

    /// Whose key it is.
    package func identify(_ request: PublishRequest) -> Admission.Answer {
        let answer = self.admission.answer(to: request.address, now: self.configuration.wallClock())
        if let use = self.admission.takeUse() { self.emit(.keyUsed(use)) }
        return answer
    }

    /// Nothing has come of a request that ``identify(_:)`` has found a source for.
    package func giveBack(_ request: PublishRequest) {
        self.admission.giveBack(request.address, now: self.configuration.wallClock())
        if let use = self.admission.takeUse() { self.emit(.keyUsed(use)) }
    }

    /// What whoever wants to publish `source` is told now; nil: it may be published.
    package func refusal(of source: SourceID) -> PublishRefusal? {
        self.refusals.refusal(of: source, now: self.clock.now())
    }

    /// Whether `source` may be published once more now; it counts then.
    package func mayPublish(_ source: SourceID) -> Bool {
        let now = self.clock.now()
        return self.publications[source, default: RateBudget(Self.publicationRate, now: now)].take(now: now)
    }

    /// Sends the publisher of `source` away; until `deadline` nobody may publish it.
    func kick(_ source: SourceID, _ refusal: PublishRefusal, until deadline: Int64) {
        self.refusals.refuse(source, refusal, until: deadline)
        self.publishers[source]?.refuse(refusal)
    }

    /// A wrong key has come from there.
    func failed(at address: IPAddress?) -> FailureBook.Answer {
        self.failures.failed(at: address, now: self.clock.now())
    }

    /// Whether the webhook is asked about somebody from there.
    func mayAsk(from address: IPAddress?) -> Bool { self.questions.take(at: address, now: self.clock.now()) }

    /// Whether the log says that a connection from there came to nothing: whoever opens thousands fills no disk.
    func mayLog(from address: IPAddress?) -> Bool { self.lines.take(at: address, now: self.clock.now()) }

    /// Gives the source to `handler`, and makes room when it is taken over.
    package func claim(_ source: SourceID, by handler: any PublishingConnection) -> Claim {
        guard let hub = self.hubs[source] else { return .deny(.denied, reason: "\(source) is not here any more") }
        if let refusal = self.refusal(of: source) {
            return .deny(refusal, reason: "\(source) is refused for some time")
        }
        let now = self.clock.now()
        guard let older = self.publishers[source] else {
            self.publishers[source] = handler
            self.claimedAt[source] = now
            return .accept(hub, isTakeover: false)
        }
        guard self.configuration.onDuplicate == .takeover else { return .deny(.busy, reason: nil) }
        let isAllowed = self.flapGuards[source, default: FlapGuard()].allowsTakeover(
            since: self.claimedAt[source] ?? 0, lastPacket: hub.statistics.lastPacket, now: now)
        if !isAllowed {
            self.emit(.flapping(source, remote: handler.remote))
            return .deny(.busy, reason: nil)
        }
        // The older one ends its source before the newer one begins it.
        self.publishers[source] = handler
        self.claimedAt[source] = now
        older.giveWay()
        return .accept(hub, isTakeover: true)
    }

    // MARK: Sources that come and go

    /// Publishers may come for another source.
    func add(_ source: IngestConfiguration.Source, _ hub: SourceHub) {
        self.hubs[hub.source] = hub
        self.configuration.readPatience[hub.source] = source.readPatience
        self.configuration.sourceCodecs[hub.source] = source.codecs
        // Clients are told before it is known who they are.
        if let codecs = source.codecs { self.configuration.session.codecs.formUnion(codecs) }
        if let refused = source.refused { self.refusals.refuse(hub.source, refused.refusal, until: refused.until) }
    }

    /// Nobody publishes the source any more; who does is sent away.
    func remove(_ source: SourceID, _ refusal: PublishRefusal) {
        self.hubs[source] = nil
        self.configuration.readPatience[source] = nil
        self.configuration.sourceCodecs[source] = nil
        self.refusals.forget(source)
        self.publications[source] = nil
        self.flapGuards[source] = nil
        self.claimedAt[source] = nil
        self.publishers[source]?.refuse(refusal)
    }

    /// `handler` publishes no more.
    package func release(_ source: SourceID, by handler: any PublishingConnection) {
        if self.publishers[source] === handler { self.publishers[source] = nil }
    }

    /// Who publishes `source` now.
    func publisher(of source: SourceID) -> (any PublishingConnection)? { self.publishers[source] }
}
