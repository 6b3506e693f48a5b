import Logging
import MediaTypes
import NIOCore
import NIOPosix
import PipelineSpec
import PublishAuth
import Synchronization

/// State shared by all connections of one edge. Used only on the edge's single event loop, except ``counters``.
final class EdgeCore {
    let settings: EdgeSettings
    let clock: any MonotonicClock
    let logger: Logger
    let loop: any EventLoop
    let counters: SharedCounters
    /// One buffer for all connections, so that it stays in the CPU caches.
    var buffer = ByteBuffer()
    /// One pipe for all connections that are read on the timer and are not encrypted; nil if bytes are copied.
    private(set) lazy var pipe: SplicePipe? = self.settings.splices ? self.openPipe() : nil
    private var limiter: ConnectionLimiter
    private var isSweepDue = false
    private var failures = AuthFailureLimiter()
    /// Rate limit of log lines about connections that the edge closes, per client network.
    private var lines = ClientRateLimiter((perSecond: 1, burst: 20))
    private(set) var handlers: [Int: EdgePublisherHandler] = [:]
    private var connections = 0
    /// Number of connections that are closing and stay open for a moment so that their peers can read the refusal.
    private var lingering = 0
    private static let maximumLingering = 256
    /// A publisher that is forwarded, and when it is read.
    private struct Lane {
        let handler: EdgePublisherHandler
        var pace: ForwardPace
    }

    private var lanes: [Lane] = []
    private var isTakingTurn = false
    private var timer: RepeatedTask?
    private var turn = 0
    private var moveTimer: RepeatedTask?

    init(
        _ settings: EdgeSettings, _ clock: any MonotonicClock, _ logger: Logger, _ loop: any EventLoop,
        _ counters: SharedCounters
    ) {
        self.settings = settings
        self.clock = clock
        self.logger = logger
        self.loop = loop
        self.counters = counters
        self.limiter = ConnectionLimiter(
            maximum: settings.maximumConnections, maximumPerPlace: settings.maximumWaitingPerAddress)
    }

    func number() -> Int {
        self.connections &+= 1
        return self.connections
    }

    func isProxy(_ address: IPAddress?) -> Bool {
        guard let address else { return false }
        return self.settings.proxies.contains { $0.contains(address) }
    }

    /// Registers a connection, or its real address after the PROXY header. Closes connections over the limit.
    func opened(_ handler: EdgePublisherHandler, from address: IPAddress?) {
        self.handlers[handler.number] = handler
        self.close(self.limiter.opened(handler.number, from: address, now: self.clock.now()))
        self.sweepSoon()
    }

    private func close(_ crowd: [Int]) {
        for number in crowd { self.handlers[number]?.crowdedOut() }
    }

    private func sweepSoon() {
        guard !self.isSweepDue, self.limiter.isCrowded else { return }
        self.isSweepDue = true
        let core = NIOLoopBound(self, eventLoop: self.loop)
        self.loop.scheduleTask(in: .nanoseconds(ConnectionLimiter.patience)) {
            let core = core.value
            core.isSweepDue = false
            core.close(core.limiter.sweep(now: core.clock.now()))
            core.sweepSoon()
        }
    }

    func advanced(_ handler: EdgePublisherHandler) { self.limiter.advanced(handler.number, now: self.clock.now()) }
    func denied(_ handler: EdgePublisherHandler) { self.limiter.denied(handler.number) }
    func published(_ handler: EdgePublisherHandler) { self.limiter.published(handler.number) }

    func closed(_ handler: EdgePublisherHandler) {
        self.limiter.closed(handler.number)
        self.handlers[handler.number] = nil
    }

    /// Stops counting a connection that the server begins to close. Call ``lingered()`` when it is closed.
    ///
    /// - Returns: True if the connection may linger, so that the client can read the last status; false if too many
    ///   connections linger already. Then the caller closes it at once, without calling ``lingered()``.
    func lingers(_ handler: EdgePublisherHandler) -> Bool {
        self.limiter.closed(handler.number)
        guard self.lingering < Self.maximumLingering else { return false }
        self.lingering += 1
        return true
    }

    func lingered() { self.lingering -= 1 }

    /// Counts an unknown key from `address`; returns whether it is answered with a status.
    func explains(to address: IPAddress?) -> Bool {
        self.failures.failed(at: address, now: self.clock.now()) == .explain
    }

    func mayLog(about address: IPAddress?) -> Bool { self.lines.take(at: address, now: self.clock.now()) }

    // MARK: Lookups

    /// Reads the key directory on another thread, since its file system may block.
    func look(_ names: [String], _ answer: @escaping (KeyDirectory.Lookup) -> Void) {
        let directory = self.settings.directory
        let box = NIOLoopBound(answer, eventLoop: self.loop)
        NIOThreadPool.singleton.runIfActive(eventLoop: self.loop) { directory.location(names) }
            .whenSuccess { box.value($0) }
    }

    // MARK: Forwarding

    private func openPipe() -> SplicePipe? {
        let pipe = SplicePipe()
        if pipe == nil { self.logCopying(because: "no pipe of 256 KiB or more can be opened") }
        return pipe
    }

    /// Closes a pipe that has become unusable; bytes are copied from now on.
    func pipeFailed() {
        guard self.pipe != nil else { return }
        self.pipe = nil
        self.logCopying(because: "splice(2) fails")
    }

    private func logCopying(because reason: String) {
        self.logger.info("bytes of publishers are copied, which costs more", metadata: ["reason": "\(reason)"])
    }

    /// Adds a publisher that is forwarded: checks from now on whether its room moves and, if there is a read delay, reads
    /// its socket on the timer.
    func join(_ handler: EdgePublisherHandler) {
        self.lanes.append(
            Lane(handler: handler, pace: ForwardPace(number: handler.number, delay: self.settings.readDelay)))
        let core = NIOLoopBound(self, eventLoop: self.loop)
        if self.timer == nil, self.settings.readDelay > 0 {
            let pace = TimeAmount.nanoseconds(ForwardPace.turn)
            self.timer = self.loop.scheduleRepeatedTask(initialDelay: pace, delay: pace) { _ in core.value.takeTurn() }
        }
        if self.moveTimer == nil {
            let pace = TimeAmount.nanoseconds(self.settings.moveCheck)
            self.moveTimer = self.loop.scheduleRepeatedTask(initialDelay: pace, delay: pace) { _ in
                core.value.checkMoves()
            }
        }
    }

    func leave(_ handler: EdgePublisherHandler) {
        // During a turn the lanes keep their places; handlers that have ended are removed after it.
        guard !self.isTakingTurn else { return }
        self.lanes.removeAll { $0.handler === handler }
        self.stopIfIdle()
    }

    private func stopIfIdle() {
        guard self.lanes.isEmpty else { return }
        self.timer?.cancel()
        self.timer = nil
        self.moveTimer?.cancel()
        self.moveTimer = nil
    }

    private func takeTurn() {
        self.turn &+= 1
        self.isTakingTurn = true
        var hasEnded = false
        // A publisher may join during a turn, at the end.
        for index in self.lanes.indices where self.lanes[index].pace.isDue(at: self.turn) {
            let handler = self.lanes[index].handler
            if let bytes = handler.takeTurn() { self.lanes[index].pace.received(bytes) }
            hasEnded = hasEnded || !handler.isForwarding
        }
        self.isTakingTurn = false
        if hasEnded { self.lanes.removeAll { !$0.handler.isForwarding } }
        self.stopIfIdle()
    }

    private func checkMoves() {
        let asked = self.lanes.map { ($0.handler.number, $0.handler.lookupNames) }
        let directory = self.settings.directory
        let core = NIOLoopBound(self, eventLoop: self.loop)
        NIOThreadPool.singleton.runIfActive(eventLoop: self.loop) {
            asked.map { ($0.0, directory.location($0.1)) }
        }.whenSuccess { found in
            for (number, lookup) in found { core.value.handlers[number]?.located(lookup) }
        }
    }
}

/// Counters of an edge, written on its event loop and read by its metrics.
package final class SharedCounters: Sendable {
    private let state = Mutex(EdgeCounters())

    package init() {}

    package var value: EdgeCounters { self.state.withLock { $0 } }

    func update(_ change: (inout EdgeCounters) -> Void) { self.state.withLock { change(&$0) } }
}
