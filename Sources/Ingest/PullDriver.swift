import MediaTypes
import NIOCore
import RTMP

/// Plays one source from another server over RTMP.
final class PullDriver: SourcePuller, RTMPClientOwner {
    private let settings: PullSettings
    private var connection: RTMPClientHandler?
    private var demuxer = FLVDemuxer()
    private var seen: Set<TrackKind> = []
    private var toldUnsupported = false
    private var lastMedia: Int64 = 0
    private var idleTimer: Scheduled<Void>?

    init(
        _ settings: PullSettings, hub: SourceHub, clock: any MonotonicClock, loop: any EventLoop,
        emit: @escaping @Sendable (IngestEvent) -> Void
    ) {
        self.settings = settings
        super.init(hub: hub, clock: clock, loop: loop, emit: emit)
    }

    override func connect() {
        self.emit(.pulling(self.source, url: self.settings.url.redacted))
        self.connection = RTMPClientHandler.connect(to: self.settings.url, purpose: .play, owner: self, on: self.loop)
    }

    override func disconnect() {
        self.idleTimer?.cancel()
        self.connection?.finish()
        self.connection = nil
    }

    override func setPaused(_ isPaused: Bool) {
        // While reading is paused, silence is not the server's fault.
        self.lastMedia = self.clock.now()
        self.connection?.setPaused(isPaused)
    }

    // MARK: The connection's side

    func ready(_ connection: RTMPClientHandler) {
        guard connection === self.connection, self.state == .connecting else { return }
        self.demuxer = FLVDemuxer(codecs: self.settings.codecs)
        self.seen = []
        self.toldUnsupported = false
        self.lastMedia = self.clock.now()
        self.opened(encoder: "rtmp-pull", remote: self.settings.url.authority)
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
            case .configuration(let parameters): self.emit(.configuration(self.source, parameters))
            case .packet(let packet):
                if self.seen.count < 2, self.seen.insert(packet.kind).inserted {
                    self.delivered()
                    self.emit(packet.kind == .video ? .firstVideo(self.source) : .firstAudio(self.source))
                }
            case .end: break
            }
        }
        if let codec = self.demuxer.unsupportedCodec, !self.toldUnsupported {
            self.toldUnsupported = true
            self.emit(.unsupportedCodec(self.source, codec: codec))
        }
    }

    func writable(_ connection: RTMPClientHandler) {}

    func ended(_ connection: RTMPClientHandler, reason: String) {
        guard connection === self.connection, self.state == .connecting || self.state == .live else { return }
        self.connection = nil
        self.failed(reason)
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
            self.connection?.fail("no media arrived for \(self.settings.idleTimeout / 1_000_000) ms")
        }
    }
}
