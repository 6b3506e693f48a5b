import MediaTypes
import NIOCore
import RTMP
import Threading

/// Plays one source from another server over RTMP and reconnects after every failure. Bound to the event loop.
///
/// States: idle → connecting → live (the server has accepted) → waiting (a timer runs) → connecting …; any → stopped.
final class PullDriver: RTMPClientOwner, SourcePuller {
    private enum State: Hashable { case idle, connecting, live, waiting, stopped }

    private let settings: PullSettings
    private let hub: SourceHub
    private let clock: any MonotonicClock
    private let loop: any EventLoop
    private let emit: @Sendable (IngestEvent) -> Void

    private var state = State.idle
    private var connection: RTMPClientHandler?
    private var backoff = Backoff()
    private var demuxer = FLVDemuxer()
    private var seen: Set<TrackKind> = []
    private var toldUnsupported = false
    private var lastMedia: Int64 = 0
    private var idleTimer: Scheduled<Void>?
    private var retryTimer: Scheduled<Void>?
    /// No connection attempt before this time; 0: no limit.
    private var heldUntil: Int64 = 0

    init(
        _ settings: PullSettings, hub: SourceHub, clock: any MonotonicClock, loop: any EventLoop,
        emit: @escaping @Sendable (IngestEvent) -> Void
    ) {
        self.settings = settings
        self.hub = hub
        self.clock = clock
        self.loop = loop
        self.emit = emit
    }

    func start() {
        guard self.state == .idle || self.state == .waiting else { return }
        let wait = self.heldUntil &- self.clock.now()
        guard wait <= 0 || self.heldUntil == 0 else {
            self.state = .waiting
            self.retry(in: wait)
            return
        }
        self.state = .connecting
        self.emit(.pulling(self.hub.source, url: self.settings.url.redacted))
        self.connection = RTMPClientHandler.connect(to: self.settings.url, purpose: .play, owner: self, on: self.loop)
    }

    func stop() {
        let wasLive = self.state == .live
        self.state = .stopped
        self.retryTimer?.cancel()
        self.idleTimer?.cancel()
        self.connection?.finish()
        self.connection = nil
        if wasLive { self.endPublication() }
    }

    var source: SourceID { self.hub.source }

    /// Disconnects from the server and does not reconnect before `deadline`.
    func hold(until deadline: Int64) {
        guard self.state != .stopped else { return }
        self.heldUntil = deadline
        if self.state == .idle { return }
        let wasLive = self.state == .live
        self.state = .waiting
        self.idleTimer?.cancel()
        self.connection?.finish()
        self.connection = nil
        if wasLive {
            self.hub.cut()
            self.endPublication()
            self.emit(.lost(self.hub.source, reason: "disconnected by the operator"))
        }
        self.retry(in: max(0, deadline &- self.clock.now()))
    }

    func setPaused(_ isPaused: Bool) {
        // While reading is paused, silence is not the server's fault.
        self.lastMedia = self.clock.now()
        self.connection?.setPaused(isPaused)
    }

    // MARK: The connection's side

    func ready(_ connection: RTMPClientHandler) {
        guard connection === self.connection, self.state == .connecting else { return }
        self.state = .live
        self.demuxer = FLVDemuxer(codecs: self.settings.codecs)
        self.seen = []
        self.toldUnsupported = false
        self.lastMedia = self.clock.now()
        self.hub.updateStatistics {
            $0.publications += 1
            $0.isPublishing = true
        }
        self.emit(
            .publishing(
                self.hub.source,
                PublisherInfo(encoder: "rtmp-pull", remote: self.settings.url.authority, isTakeover: false)))
        if self.hub.isFull { connection.setPaused(true) }
        self.armIdleTimer(self.settings.idleTimeout)
    }

    func received(_ media: [RTMPMediaMessage], on connection: RTMPClientHandler) {
        guard connection === self.connection, self.state == .live else { return }
        let arrival = self.clock.now()
        self.lastMedia = arrival
        var items: [SourceItem] = []
        var bytes: UInt64 = 0
        for message in media {
            bytes += UInt64(message.payload.count)
            self.demuxer.receive(message, arrival: arrival, into: &items)
        }
        let counters = self.demuxer.counters
        self.hub.updateStatistics {
            $0.bytes += bytes
            $0.demuxed = counters
        }
        self.hub.receive(items)
        for item in items {
            switch item {
            case .configuration(let parameters): self.emit(.configuration(self.hub.source, parameters))
            case .packet(let packet):
                // A stream that delivers media works: the next failure starts with a short wait again.
                if self.seen.count < 2, self.seen.insert(packet.kind).inserted {
                    self.backoff.reset()
                    self.emit(packet.kind == .video ? .firstVideo(self.hub.source) : .firstAudio(self.hub.source))
                }
            case .end: break
            }
        }
        if let codec = self.demuxer.unsupportedCodec, !self.toldUnsupported {
            self.toldUnsupported = true
            self.emit(.unsupportedCodec(self.hub.source, codec: codec))
        }
    }

    func writable(_ connection: RTMPClientHandler) {}

    func ended(_ connection: RTMPClientHandler, reason: String) {
        guard connection === self.connection, self.state == .connecting || self.state == .live else { return }
        let wasLive = self.state == .live
        self.connection = nil
        self.idleTimer?.cancel()
        self.state = .waiting
        if wasLive {
            self.endPublication()
            self.emit(.lost(self.hub.source, reason: reason))
        }
        let wait = self.backoff.next(random: .random(in: 0 ... .max))
        self.emit(.pullFailed(self.hub.source, reason: reason, retryMs: Int(wait / 1_000_000)))
        self.retry(in: wait)
    }

    private func retry(in wait: Int64) {
        self.retryTimer?.cancel()
        let box = NIOLoopBound(self, eventLoop: self.loop)
        self.retryTimer = self.loop.scheduleTask(in: .nanoseconds(wait)) { box.value.start() }
    }

    private func endPublication() {
        self.hub.updateStatistics { $0.isPublishing = false }
        self.hub.receive([.end])
    }

    private func armIdleTimer(_ wait: Int64) {
        let box = NIOLoopBound(self, eventLoop: self.loop)
        self.idleTimer = self.loop.scheduleTask(in: .nanoseconds(max(wait, 1_000_000))) { box.value.checkIdle() }
    }

    private func checkIdle() {
        guard self.state == .live else { return }
        let left = self.lastMedia &+ self.settings.idleTimeout &- self.clock.now()
        if left > 0 {
            self.armIdleTimer(left)
        } else if self.hub.isFull {
            // The connection is not read at present; the idle timeout starts again when it is.
            self.armIdleTimer(self.settings.idleTimeout)
        } else {
            self.connection?.fail("no media for \(self.settings.idleTimeout / 1_000_000) ms")
        }
    }
}
