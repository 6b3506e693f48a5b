import MediaTypes
import NIOCore
import RTMP
import Stages

/// Connects a relay to its far side, again and again, and writes what its queue holds. Bound to the event loop.
///
/// States: waiting (the source sends nothing) → connecting → live → failed (a timer runs) → connecting …; live → waiting
/// when the source has been gone for the grace; any → stopped.
final class RelayDriver: RTMPClientOwner {
    private enum State: Hashable { case waiting, connecting, live, failed, stopped }

    /// A far side that takes nothing for this long is gone without a word.
    private static let stallTimeout = TimeAmount.seconds(10)
    /// A connection that held this long was a good one: the back-off begins anew.
    private static let steady = TimeAmount.seconds(10)

    private let relay: Relay
    private let hub: SourceHub
    private let grace: TimeAmount
    private let loop: any EventLoop
    private let emit: @Sendable (RelayEvent) -> Void

    private var state = State.waiting
    private var connection: RTMPClientHandler?
    private var token: SubscriptionToken?
    private var backoff = Backoff()
    private struct Track: Hashable {
        var kind: TrackKind
        var number: UInt8
    }

    private var codecs: [Track: CodecName] = [:]
    private var announced: [TrackKind: CodecName] = [:]
    private var liveSince = NIODeadline.uptimeNanoseconds(0)
    private var retryTimer: Scheduled<Void>?
    private var graceTimer: Scheduled<Void>?
    private var stallTimer: Scheduled<Void>?

    init(
        relay: Relay, hub: SourceHub, grace: Int64, loop: any EventLoop,
        events: @escaping @Sendable (RelayEvent) -> Void
    ) {
        self.relay = relay
        self.hub = hub
        self.grace = .nanoseconds(grace)
        self.loop = loop
        self.emit = events
    }

    func start() {
        // Tells whether the source sends; the packets are asked for once somebody is there to take them.
        self.token = self.hub.subscribe(self.relay)
        self.woken()
    }

    func stop(reason: String) {
        guard self.state != .stopped else { return }
        self.unsubscribe()
        self.cancelTimers()
        self.state = .stopped
        self.connection?.finish()
        self.connection = nil
        self.emit(.stopped(reason: reason))
    }

    /// The source has sent something, has come or has gone.
    func woken() {
        let hasSource = self.relay.takeWake()
        switch self.state {
        case .waiting: if hasSource { self.connect() }
        case .live: self.pump()
        case .connecting, .failed, .stopped: break
        }
    }

    // MARK: The connection's side

    func ready(_ connection: RTMPClientHandler) {
        guard connection === self.connection, self.state == .connecting else { return }
        self.state = .live
        self.liveSince = .now()
        self.announced = [:]
        self.codecs = [:]
        // Anew, so that the far side begins with the cached GOP: it has a picture at once.
        self.unsubscribe()
        self.relay.collect(true)
        self.token = self.hub.subscribe(self.relay)
        self.setStatus(.live)
        self.emit(.live)
        self.announce(self.relay.configured, on: connection)
        self.pump()
        // Gone while the far side was being connected to: its end has come already.
        if !self.relay.hasSource { self.sourceLeft() }
    }

    func received(_ media: [RTMPMediaMessage], on connection: RTMPClientHandler) {}

    func writable(_ connection: RTMPClientHandler) {
        guard connection === self.connection else { return }
        self.stallTimer?.cancel()
        self.stallTimer = nil
        if self.state == .live { self.pump() }
    }

    func ended(_ connection: RTMPClientHandler, reason: String) {
        guard connection === self.connection, self.state == .connecting || self.state == .live else { return }
        if self.state == .live, .now() - self.liveSince > Self.steady { self.backoff.reset() }
        self.connection = nil
        self.relay.collect(false)
        self.cancelTimers()
        self.state = .failed
        let wait = self.backoff.next(random: .random(in: 0 ... .max))
        self.relay.updateStatus {
            $0.state = .failed
            $0.lastError = reason
        }
        self.emit(.failed(reason: reason, retryMs: Int(wait / 1_000_000)))
        let box = NIOLoopBound(self, eventLoop: self.loop)
        self.retryTimer = self.loop.scheduleTask(in: .nanoseconds(wait)) { box.value.retry() }
    }

    private func retry() {
        guard self.state == .failed else { return }
        // What the relay heard of the source while nothing was collected still holds.
        if self.relay.hasSource {
            self.relay.updateStatus { $0.retries += 1 }
            self.connect()
        } else {
            self.wait()
        }
    }

    // MARK: Steps

    private func connect() {
        self.state = .connecting
        self.setStatus(.connecting)
        self.emit(.connecting)
        self.connection = RTMPClientHandler.connect(
            to: self.relay.url, purpose: .publish, owner: self, egress: self.relay.egress, on: self.loop)
    }

    private func wait() {
        self.state = .waiting
        self.setStatus(.waiting)
    }

    private func setStatus(_ state: RelayStatus.State) { self.relay.updateStatus { $0.state = state } }

    private func unsubscribe() {
        if let token = self.token { self.hub.unsubscribe(token) }
        self.token = nil
    }

    private func cancelTimers() {
        for timer in [self.retryTimer, self.graceTimer, self.stallTimer] { timer?.cancel() }
        (self.retryTimer, self.graceTimer, self.stallTimer) = (nil, nil, nil)
    }

    /// Writes as much as the far side takes.
    private func pump() {
        guard let connection = self.connection else { return }
        var bytes = 0
        while connection.isWritable, connection.isReady, let item = self.relay.pop() {
            bytes += self.write(item, to: connection)
        }
        connection.flush()
        if bytes > 0 { self.relay.updateStatus { $0.bytes += UInt64(bytes) } }
        if connection.isReady, !connection.isWritable, self.stallTimer == nil {
            let box = NIOLoopBound(self, eventLoop: self.loop)
            self.stallTimer = self.loop.scheduleTask(in: Self.stallTimeout) {
                box.value.connection?.fail("the far side takes nothing")
            }
        }
    }

    private func write(_ item: SourceItem, to connection: RTMPClientHandler) -> Int {
        switch item {
        case .configuration(let parameters):
            self.sourceReturned()
            // Whoever has not said that it reads further tracks may take their packets for the main one's.
            guard parameters.track == 0 || connection.peer.extensions.contains(.multitrack) else { return 0 }
            self.announce([parameters], on: connection)
            self.codecs[Track(kind: parameters.kind, number: parameters.track)] = parameters.codec
            return FLVTagWriter.configuration(parameters).map { connection.write($0) } ?? 0
        case .packet(let packet):
            self.sourceReturned()
            guard let codec = self.codecs[Track(kind: packet.kind, number: packet.track)] else { return 0 }
            return FLVTagWriter.packet(packet, codec: codec).map { connection.write($0) } ?? 0
        case .end:
            self.sourceLeft()
            return 0
        }
    }

    /// `onMetaData` before the first configuration, and again when a track comes later.
    private func announce(_ parameters: [CodecParameters], on connection: RTMPClientHandler) {
        let new = parameters.filter { $0.track == 0 && self.announced[$0.kind] == nil }
        if new.isEmpty { return }
        for parameters in new { self.announced[parameters.kind] = parameters.codec }
        var properties = FLVTagWriter.codecProperties(video: self.announced[.video], audio: self.announced[.audio])
        properties.append(AMF0Property("encoder", .string("Tandem relay")))
        _ = connection.write(metadata: properties)
    }

    /// The far side is kept for the grace: a publisher that returns goes on there as if it had only paused.
    private func sourceLeft() {
        guard self.graceTimer == nil else { return }
        let box = NIOLoopBound(self, eventLoop: self.loop)
        self.graceTimer = self.loop.scheduleTask(in: self.grace) { box.value.graceOver() }
    }

    private func sourceReturned() {
        self.graceTimer?.cancel()
        self.graceTimer = nil
    }

    private func graceOver() {
        self.graceTimer = nil
        guard self.state == .live, !self.relay.hasSource else { return }
        self.connection?.finish()
        self.connection = nil
        self.relay.collect(false)
        self.cancelTimers()
        self.wait()
        self.emit(.stopped(reason: "the source is gone"))
        // It may have come back between the two questions.
        if self.relay.hasSource { self.connect() }
    }
}
