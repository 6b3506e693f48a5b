import MediaTypes
import NIOCore
import RTMP

/// Performs the actions of ``RelayStateMachine``: connects a relay to its remote server and writes the queued packets.
/// Bound to the relays' event loop.
final class RelayDriver: RTMPClientOwner {
    /// If the connection can take no more data for this long, because the remote server reads too slowly, it counts as
    /// failed.
    private static let stallTimeout = TimeAmount.seconds(10)

    private let relay: Relay
    private let hub: SourceHub
    private let clock: any MonotonicClock
    private let loop: any EventLoop
    private let emit: @Sendable (RelayEvent) -> Void

    private var life = RelayStateMachine()
    private var connection: RTMPClientHandler?
    private var token: SubscriptionToken?
    private struct Track: Hashable {
        var kind: TrackKind
        var number: UInt8
    }

    private var codecs: [Track: CodecName] = [:]
    private var announced: [TrackKind: CodecName] = [:]
    private var timer: Scheduled<Void>?
    private var stallTimer: Scheduled<Void>?

    init(
        relay: Relay, hub: SourceHub, clock: any MonotonicClock, loop: any EventLoop,
        events: @escaping @Sendable (RelayEvent) -> Void
    ) {
        self.relay = relay
        self.hub = hub
        self.clock = clock
        self.loop = loop
        self.emit = events
    }

    func start() {
        // Subscribed only to learn whether the source sends; packets are collected once the remote server takes them.
        self.token = self.hub.subscribe(self.relay)
        self.woken()
    }

    func stop(reason: String) { self.perform(self.life.receive(.removed(reason: reason), now: self.clock.now())) }

    /// Handles a wake-up by the relay: the source has sent something, has started or has ended.
    func woken() {
        let hasSource = self.relay.takeWake()
        // While live, the end of the source is read from the queue, behind the last packet.
        if self.life.state == .live { self.pump() } else { self.note(hasSource) }
    }

    private func note(_ hasSource: Bool) {
        guard hasSource != self.life.hasSource else { return }
        self.perform(self.life.receive(hasSource ? .sourceBegan : .sourceEnded, now: self.clock.now()))
    }

    private func perform(_ actions: [RelayStateMachine.Action]) {
        self.showState()
        for action in actions {
            switch action {
            case .connect(let isRetry):
                if isRetry { self.relay.updateStatus { $0.retries += 1 } }
                self.connection = RTMPClientHandler.connect(
                    to: self.relay.url, purpose: .publish, owner: self, egress: self.relay.egress, on: self.loop)
            case .stream: self.stream()
            case .finish: self.finish()
            case .setTimer(let wait): self.setTimer(wait)
            case .cancelTimer: self.timer?.cancel()
            case .tell(let event):
                if case .failed(let reason, _) = event { self.relay.updateStatus { $0.lastError = reason } }
                self.emit(event)
            }
        }
    }

    private func showState() {
        let state: RelayStatus.State =
            switch self.life.state {
            case .waiting, .stopped: .waiting
            case .connecting: .connecting
            case .live: .live
            case .failed: .failed
            }
        self.relay.updateStatus { $0.state = state }
    }

    private func setTimer(_ wait: Int64) {
        self.timer?.cancel()
        let box = NIOLoopBound(self, eventLoop: self.loop)
        self.timer = self.loop.scheduleTask(in: .nanoseconds(wait)) {
            let driver = box.value
            driver.perform(driver.life.receive(.timerFired, now: driver.clock.now()))
        }
    }

    // MARK: Calls from the connection

    func ready(_ connection: RTMPClientHandler) {
        guard connection === self.connection else { return }
        self.perform(self.life.receive(.accepted, now: self.clock.now()))
        guard self.life.state == .live else { return }
        self.announce(self.relay.configured, on: connection)
        self.pump()
        // The source may have ended while the connection was made.
        if self.life.state == .live { self.note(self.relay.hasSource) }
    }

    func received(_ media: [RTMPMediaMessage], on connection: RTMPClientHandler) {}

    func writable(_ connection: RTMPClientHandler) {
        guard connection === self.connection else { return }
        self.stallTimer?.cancel()
        self.stallTimer = nil
        if self.life.state == .live { self.pump() }
    }

    func ended(_ connection: RTMPClientHandler, reason: String) {
        guard connection === self.connection else { return }
        self.connection = nil
        self.relay.collect(false)
        self.cancelStallTimer()
        let hasSource = self.relay.hasSource
        self.perform(
            self.life.receive(
                .disconnected(reason: reason, random: .random(in: 0 ... .max)), now: self.clock.now()))
        // The end of the source may have waited in the queue.
        self.note(hasSource)
    }

    // MARK: Steps

    /// Subscribes to the source again. The subscription starts with the cached GOP, so the remote server gets a key
    /// frame at once.
    private func stream() {
        self.announced = [:]
        self.codecs = [:]
        self.unsubscribe()
        self.relay.collect(true)
        self.token = self.hub.subscribe(self.relay)
    }

    /// Ends the publication on the remote server. The subscription to the source stays, unless the relay is stopped.
    private func finish() {
        if self.life.state == .stopped { self.unsubscribe() }
        self.connection?.finish()
        self.connection = nil
        self.cancelStallTimer()
        if self.life.state != .stopped { self.relay.collect(false) }
    }

    private func cancelStallTimer() {
        self.stallTimer?.cancel()
        self.stallTimer = nil
    }

    private func unsubscribe() {
        if let token = self.token { self.hub.unsubscribe(token) }
        self.token = nil
    }

    /// Writes queued packets until the connection is full.
    private func pump() {
        guard let connection = self.connection else { return }
        var bytes = 0
        while connection.isWritable, connection.isReady, let item = self.relay.pop() {
            bytes += self.write(item, to: connection)
        }
        connection.flush()
        if bytes > 0 { self.relay.updateStatus { $0.bytes += UInt64(bytes) } }
        guard self.life.state == .live else { return }
        if connection.isReady, !connection.isWritable, self.stallTimer == nil {
            let box = NIOLoopBound(self, eventLoop: self.loop)
            self.stallTimer = self.loop.scheduleTask(in: Self.stallTimeout) {
                box.value.connection?.fail(
                    "the remote server reads too slowly: the connection could take no data for 10 s")
            }
        }
    }

    private func write(_ item: SourceItem, to connection: RTMPClientHandler) -> Int {
        switch item {
        case .configuration(let parameters):
            // A server that does not support multitrack may take packets of further tracks for those of the main track.
            guard parameters.track == 0 || connection.peer.extensions.contains(.multitrack) else { return 0 }
            self.announce([parameters], on: connection)
            self.codecs[Track(kind: parameters.kind, number: parameters.track)] = parameters.codec
            return FLVTagWriter.configuration(parameters).map { connection.write($0) } ?? 0
        case .packet(let packet):
            guard let codec = self.codecs[Track(kind: packet.kind, number: packet.track)] else { return 0 }
            return FLVTagWriter.packet(packet, codec: codec).map { connection.write($0) } ?? 0
        case .end:
            self.note(false)
            // The source may send again already: what follows the end is in the hub's cache.
            self.note(self.relay.hasSource)
            return 0
        }
    }

    /// Sends `onMetaData` before the first configuration, and again when the main video or audio track starts later.
    private func announce(_ parameters: [CodecParameters], on connection: RTMPClientHandler) {
        let new = parameters.filter { $0.track == 0 && self.announced[$0.kind] == nil }
        if new.isEmpty { return }
        for parameters in new { self.announced[parameters.kind] = parameters.codec }
        var properties = FLVTagWriter.codecProperties(video: self.announced[.video], audio: self.announced[.audio])
        properties.append(AMF0Property("encoder", .string("Tandem relay")))
        _ = connection.write(metadata: properties)
    }
}
