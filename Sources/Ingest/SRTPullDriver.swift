package import MediaTypes
import NIOCore
import Threading

/// Pulls one source and reconnects after every failure. Bound to the service's event loop.
protocol SourcePuller: AnyObject {
    var source: SourceID { get }
    func start()
    func stop()
    /// Disconnects from the server and does not reconnect before `deadline`.
    func hold(until deadline: Int64)
    func setPaused(_ isPaused: Bool)
}

/// Settings of one source that is pulled from an SRT listener.
package struct SRTPullSettings: Sendable {
    package let source: SourceID
    package let url: SRTURL
    /// Nanoseconds until the listener must have sent something.
    package var openTimeout: Int64 = 20 * TimeMath.nanoseconds
    /// Nanoseconds without media after which the connection is closed and made again.
    package var idleTimeout: Int64 = 90 * TimeMath.nanoseconds
    /// Largest access unit in bytes.
    package var maximumBytes = 8 << 20
    /// Codecs that the server may send.
    package var codecs: Set<CodecName>

    package init(source: SourceID, url: SRTURL, codecs: Set<CodecName>) {
        self.source = source
        self.url = url
        self.codecs = codecs
    }
}

/// Pulls one source from an SRT listener.
///
/// States: idle → connecting → live (the listener has accepted) → waiting (a timer runs) → connecting …; any → stopped.
/// Each connection is a ``MPEGTSFeed`` of its own; reports of earlier ones are ignored.
final class SRTPullDriver: SourcePuller {
    private enum State: Hashable { case idle, connecting, live, waiting, stopped }

    private let settings: SRTPullSettings
    private let hub: SourceHub
    private let clock: any MonotonicClock
    private let loop: any EventLoop
    private let emit: @Sendable (IngestEvent) -> Void

    private var state = State.idle
    private var feed: MPEGTSFeed?
    /// The last feed, also after it was stopped: ``PullService/stop()`` waits for its thread.
    private(set) var lastFeed: MPEGTSFeed?
    private var backoff = Backoff()
    private var retryTimer: Scheduled<Void>?
    /// No connection attempt before this time; 0: no limit.
    private var heldUntil: Int64 = 0

    init(
        _ settings: SRTPullSettings, hub: SourceHub, clock: any MonotonicClock, loop: any EventLoop,
        emit: @escaping @Sendable (IngestEvent) -> Void
    ) {
        self.settings = settings
        self.hub = hub
        self.clock = clock
        self.loop = loop
        self.emit = emit
    }

    var source: SourceID { self.hub.source }

    func start() {
        guard self.state == .idle || self.state == .waiting else { return }
        let wait = self.heldUntil &- self.clock.now()
        guard wait <= 0 || self.heldUntil == 0 else {
            self.state = .waiting
            self.retry(in: wait)
            return
        }
        self.state = .connecting
        self.emit(.pulling(self.source, url: self.settings.url.redacted))
        var settings = MPEGTSFeed.Settings(
            address: self.settings.url.caller, codecs: self.settings.codecs, place: "source[\(self.source)]")
        settings.maximumBytes = self.settings.maximumBytes
        settings.openTimeout = self.settings.openTimeout
        settings.idleTimeout = self.settings.idleTimeout
        let box = NIOLoopBound(self, eventLoop: self.loop)
        let (loop, number) = (self.loop, self.clock.now())
        self.connection = number
        let feed = MPEGTSFeed(settings, clock: self.clock) { event in
            loop.execute { box.value.told(event, by: number) }
        }
        self.feed = feed
        self.lastFeed = feed
        if self.hub.isFull { feed.setPaused(true) }
        feed.deliver(into: self.hub)
        feed.start()
    }

    /// Identifies the current connection: the time at which it was started.
    private var connection: Int64 = 0

    func stop() {
        let wasLive = self.state == .live
        self.state = .stopped
        self.retryTimer?.cancel()
        self.letGo(wasLive)
    }

    func hold(until deadline: Int64) {
        guard self.state != .stopped else { return }
        self.heldUntil = deadline
        if self.state == .idle { return }
        let wasLive = self.state == .live
        self.state = .waiting
        if wasLive { self.hub.cut() }
        self.letGo(wasLive)
        if wasLive { self.emit(.lost(self.source, reason: "disconnected by the operator")) }
        self.retry(in: max(0, deadline &- self.clock.now()))
    }

    func setPaused(_ isPaused: Bool) { self.feed?.setPaused(isPaused) }

    private func told(_ event: MPEGTSFeed.Event, by number: Int64) {
        guard number == self.connection, self.state == .connecting || self.state == .live else { return }
        switch event {
        case .opened:
            self.state = .live
            self.hub.updateStatistics {
                $0.publications += 1
                $0.isPublishing = true
            }
            let remote = String(self.settings.url.redacted.dropFirst("srt://".count))
            self.emit(
                .publishing(self.source, PublisherInfo(encoder: "srt-pull", remote: remote, isTakeover: false)))
        case .ended(let reason):
            let wasLive = self.state == .live
            self.state = .waiting
            self.letGo(wasLive)
            if wasLive { self.emit(.lost(self.source, reason: reason)) }
            let wait = self.backoff.next(random: .random(in: 0 ... .max))
            self.emit(.pullFailed(self.source, reason: reason, retryMs: Int(wait / 1_000_000)))
            self.retry(in: wait)
        case .firstVideo, .firstAudio:
            // A stream that delivers media works: the next failure starts with a short wait again.
            self.backoff.reset()
            event.reported(of: self.source).map(self.emit)
        case .configuration, .unsupportedCodec: event.reported(of: self.source).map(self.emit)
        }
    }

    private func letGo(_ wasLive: Bool) {
        self.feed?.stop()
        self.feed = nil
        guard wasLive else { return }
        self.hub.updateStatistics { $0.isPublishing = false }
        self.hub.receive([.end])
    }

    private func retry(in wait: Int64) {
        self.retryTimer?.cancel()
        let box = NIOLoopBound(self, eventLoop: self.loop)
        self.retryTimer = self.loop.scheduleTask(in: .nanoseconds(wait)) { box.value.start() }
    }
}
