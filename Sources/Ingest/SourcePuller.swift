import MediaTypes
import NIOCore
import Threading

/// Pulls one source and reconnects after every failure. Bound to the service's event loop.
///
/// States: idle → connecting → live (the server has accepted); idle, connecting or live → waiting (a timer runs) → connecting;
/// any → stopped.
class SourcePuller {
    enum State: Hashable { case idle, connecting, live, waiting, stopped }

    let hub: SourceHub
    let clock: any MonotonicClock
    let loop: any EventLoop
    let emit: @Sendable (IngestEvent) -> Void
    private(set) var state = State.idle
    private var backoff = Backoff()
    private var retryTimer: Scheduled<Void>?
    /// Time before which ``start()`` does not connect, in nanoseconds; 0: no limit.
    private var heldUntil: Int64 = 0

    init(
        hub: SourceHub, clock: any MonotonicClock, loop: any EventLoop, emit: @escaping @Sendable (IngestEvent) -> Void
    ) {
        self.hub = hub
        self.clock = clock
        self.loop = loop
        self.emit = emit
    }

    // MARK: What the protocols do differently

    /// Starts to connect to the server. Overridden for each protocol.
    func connect() {}

    /// Ends the connection, if there is one. Its later reports must be ignored.
    func disconnect() {}

    func setPaused(_ isPaused: Bool) {}

    // MARK: Life cycle

    final var source: SourceID { self.hub.source }

    final func start() {
        guard self.state == .idle || self.state == .waiting else { return }
        let wait = self.heldUntil &- self.clock.now()
        guard wait <= 0 || self.heldUntil == 0 else {
            self.state = .waiting
            self.retry(in: wait)
            return
        }
        self.state = .connecting
        self.connect()
    }

    final func stop() {
        self.retryTimer?.cancel()
        self.leave(for: .stopped)
    }

    /// Disconnects from the server and does not reconnect before `deadline`.
    final func hold(until deadline: Int64) {
        guard self.state != .stopped else { return }
        self.heldUntil = deadline
        if self.state == .idle { return }
        if self.state == .live { self.hub.cut() }
        if self.leave(for: .waiting) { self.emit(.lost(self.source, reason: "disconnected by the operator")) }
        self.retry(in: max(0, deadline &- self.clock.now()))
    }

    /// Records that the server has accepted the SRT connection or the RTMP request to play the stream.
    final func opened(encoder: String, remote: String) {
        self.state = .live
        self.hub.updateStatistics {
            $0.publications += 1
            $0.isPublishing = true
            $0.webRTC = nil
        }
        self.emit(.publishing(self.source, PublisherInfo(encoder: encoder, remote: remote, isTakeover: false)))
    }

    /// Records that media has arrived: the connection works, so the back-off starts again with a short wait after the
    /// next failure.
    final func delivered() { self.backoff.reset() }

    final func failed(_ reason: String) {
        if self.leave(for: .waiting) { self.emit(.lost(self.source, reason: reason)) }
        let wait = self.backoff.next(random: .random(in: 0 ... .max))
        self.emit(.pullFailed(self.source, reason: reason, retryMs: Int(wait / 1_000_000)))
        self.retry(in: wait)
    }

    /// Disconnects and ends the publication.
    ///
    /// - Returns: True if there was a publication.
    @discardableResult
    private func leave(for state: State) -> Bool {
        let wasLive = self.state == .live
        self.state = state
        self.disconnect()
        guard wasLive else { return false }
        self.hub.updateStatistics { $0.isPublishing = false }
        self.hub.receive([.end])
        return true
    }

    private func retry(in wait: Int64) {
        self.retryTimer?.cancel()
        let box = NIOLoopBound(self, eventLoop: self.loop)
        self.retryTimer = self.loop.scheduleTask(in: .nanoseconds(wait)) { box.value.start() }
    }
}
